// Inbox: what other threads hand to an executor. Many producers, one consumer.
//
// An intrusive stack: producers push with one compare-and-swap, the executor
// takes everything at once with one exchange and reverses it into arrival order,
// so there is no ABA problem, no lock and (for nodes that live inside their
// owner, as in WakeEvent) no allocation. A closed inbox refuses further nodes.
//
// The operations are seq_cst because parking relies on one total order: the
// consumer publishes "parked" and then looks at the inbox, the producer pushes
// and then looks at "parked"; at least one of them sees the other.
#pragma once

#include <atomic>

namespace hummer {

class Executor;

class InboxNode {
 public:
  // Own thread of the executor, after the node left the inbox: usually posts a coroutine.
  virtual void deliver(Executor& executor) = 0;
  // Instead of deliver(), when the executor has stopped. May come from any thread.
  virtual void discard() = 0;

 protected:
  InboxNode() = default;
  virtual ~InboxNode() = default;

 private:
  friend class Inbox;
  InboxNode* next_ = nullptr;
};

class Inbox {
 public:
  // Any thread. False when closed; the caller still owns the node then.
  bool push(InboxNode& node);
  bool empty() const { return head_.load(std::memory_order_seq_cst) == nullptr; }

  // Own thread. Calls visit(node) for all nodes in order of arrival; visit may free the node.
  template <typename Visit>
  void take_all(Visit&& visit) {
    if (head_.load(std::memory_order_relaxed) == nullptr) return;
    visit_in_order(head_.exchange(nullptr, std::memory_order_seq_cst), visit);
  }

  // Own thread. No node gets in any more; visits those that did.
  template <typename Visit>
  void close(Visit&& visit) {
    visit_in_order(head_.exchange(closed_mark(), std::memory_order_seq_cst), visit);
  }

 private:
  InboxNode* closed_mark() const;

  template <typename Visit>
  void visit_in_order(InboxNode* newest, Visit& visit) {
    if (newest == closed_mark()) return;
    InboxNode* oldest = nullptr;
    while (newest != nullptr) {
      InboxNode* next = newest->next_;
      newest->next_ = oldest;
      oldest = newest;
      newest = next;
    }
    while (oldest != nullptr) {
      InboxNode* next = oldest->next_;
      visit(*oldest);
      oldest = next;
    }
  }

  std::atomic<InboxNode*> head_{nullptr};
};

inline InboxNode* Inbox::closed_mark() const {
  // An address that no node can have: the inbox's own.
  return reinterpret_cast<InboxNode*>(const_cast<Inbox*>(this));
}

inline bool Inbox::push(InboxNode& node) {
  InboxNode* head = head_.load(std::memory_order_relaxed);
  do {
    if (head == closed_mark()) return false;
    node.next_ = head;
  } while (!head_.compare_exchange_weak(head, &node, std::memory_order_seq_cst));
  return true;
}

}  // namespace hummer
