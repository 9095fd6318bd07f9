// The frame of the bare loops: one or two threads that make records, hand them in batches to the
// thread that owns their key, and take what comes to them.
//
// A row is a class with
//   void produce(Worker& worker)           makes this thread's records, in order: worker.put(...),
//                                          and worker.close_slice() where a stretch of time ends
//   bool take(Batch& batch)                records of one kind, sender and slice; true: keeps the
//                                          batch, and gives it to worker.free later
//   void close(std::uint64_t slice)        all records of the slice have come, from all threads
//   void finish()                          there are no more
//   Checksum sum                           of its results
// All on its own thread. At most two slices are open. In `local` mode nothing is handed over: each
// thread takes what it makes, and close() looks at what the others have, at peer(); meet() waits
// for all.
#pragma once

#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "bare_table.hpp"
#include "rows.hpp"

namespace stateful::bare {

inline constexpr unsigned threads_max = 2;
inline constexpr unsigned kinds = 2;

struct Batch {
  static constexpr std::size_t bytes = 16'384;
  std::uint32_t size;
  std::uint16_t kind;
  std::uint8_t sender;
  bool closes;  // the slice; without records
  std::uint64_t slice;
  alignas(64) std::byte data[bytes];

  template <typename T>
  T* items() {
    return reinterpret_cast<T*>(data);
  }
};

// From one thread to one other.
class Ring {
 public:
  bool push(Batch* batch) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == slots_.size()) return false;
    slots_[tail % slots_.size()] = batch;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  Batch* pop() {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return nullptr;
    Batch* const batch = slots_[head % slots_.size()];
    head_.store(head + 1, std::memory_order_release);
    return batch;
  }

 private:
  std::array<Batch*, 16> slots_;
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

struct Run {
  Row row;
  unsigned threads;
  bool local = false;
  SharedChecksum total = {};
  std::atomic<std::int64_t> warm_at{0};
};

inline std::int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// What is made of an index before the compiler may cut it down to what is used of it.
template <typename T>
void materialise(const T& value) {
  asm volatile("" : : "m"(value));
}

template <typename RowOfThread>
class Worker {
 public:
  struct Shared {
    explicit Shared(Run& of) : run(of), together(of.threads) {}
    Run& run;
    Ring rings[threads_max][threads_max];  // [from][to]
    Worker* workers[threads_max] = {};
    std::barrier<> together;
  };

  Worker(Shared& shared, unsigned thread) : shared_(shared), thread_(thread), row_(*this), open_{} {
    shared.workers[thread] = this;
  }
  ~Worker() {
    for (Batch* const batch : free_) delete batch;
  }

  Run& run() { return shared_.run; }
  unsigned thread() const { return thread_; }
  unsigned threads() const { return shared_.run.threads; }
  // In `local` mode every record is one's own.
  bool alone() const { return threads() == 1 || shared_.run.local; }
  unsigned owner(std::uint64_t key) const { return alone() ? thread_ : owner_of(key, threads()); }
  RowOfThread& peer(unsigned thread) { return shared_.workers[thread]->row_; }
  void meet() { shared_.together.arrive_and_wait(); }

  void work() {
    row_.produce(*this);
    close_slice();
    while (completed_ < slice_) poll();
    shared_.together.arrive_and_wait();
    row_.finish();
    run().total.add(row_.sum);
  }

  // Room for a record.
  template <typename T>
  T& put(unsigned owner, unsigned kind = 0) {
    constexpr std::uint32_t capacity = Batch::bytes / sizeof(T);
    Batch*& batch = open_[owner][kind];
    if (batch != nullptr && batch->size == capacity) send(owner, std::exchange(batch, nullptr));
    if (batch == nullptr) batch = fresh(kind);
    return batch->template items<T>()[batch->size++];
  }
  // Room for as many as fit of one's own records; they are there once they are `filled`. REQUIRES:
  // alone().
  template <typename T>
  std::pair<T*, std::uint32_t> room() {
    constexpr std::uint32_t capacity = Batch::bytes / sizeof(T);
    Batch*& batch = open_[thread_][0];
    if (batch == nullptr) batch = fresh(0);
    return {batch->template items<T>() + batch->size, capacity - batch->size};
  }
  template <typename T>
  void filled(std::uint32_t count) {
    Batch*& batch = open_[thread_][0];
    batch->size += count;
    if (batch->size == Batch::bytes / sizeof(T)) send(thread_, std::exchange(batch, nullptr));
  }
  void close_slice() {
    for (unsigned owner = 0; owner < threads(); ++owner) {
      for (Batch*& batch : open_[owner]) {
        if (batch != nullptr) send(owner, std::exchange(batch, nullptr));
      }
    }
    for (unsigned owner = 0; owner < threads(); ++owner) {
      if (run().local && owner != thread_) continue;
      Batch* const mark = fresh(0);
      mark->closes = true;
      send(owner, mark);
    }
    ++slice_;
    while (completed_ + 1 < slice_) poll();
  }
  void free(Batch* batch) { free_.push_back(batch); }

 private:
  Batch* fresh(unsigned kind) {
    Batch* batch;
    if (free_.empty()) {
      batch = new Batch;
    } else {
      batch = free_.back();
      free_.pop_back();
    }
    batch->size = 0;
    batch->kind = static_cast<std::uint16_t>(kind);
    batch->sender = static_cast<std::uint8_t>(thread_);
    batch->closes = false;
    batch->slice = slice_;
    return batch;
  }
  void send(unsigned owner, Batch* batch) {
    if (run().local || owner == thread_) {
      deliver(batch);
    } else {
      while (!shared_.rings[thread_][owner].push(batch)) poll();
    }
    poll();
  }
  void poll() {
    for (unsigned from = 0; from < threads(); ++from) {
      if (from == thread_) continue;
      if (Batch* const batch = shared_.rings[from][thread_].pop()) {
        deliver(batch);
      } else if (completed_ + 1 < slice_) {
        std::this_thread::yield();
      }
    }
  }
  void deliver(Batch* batch) {
    if (!batch->closes) {
      if (!row_.take(*batch)) free(batch);
      return;
    }
    const std::uint64_t slice = batch->slice;
    free(batch);
    if (++closed_[slice % 2] < (run().local ? 1 : threads())) return;
    closed_[slice % 2] = 0;
    row_.close(slice);
    ++completed_;
  }

  Shared& shared_;
  const unsigned thread_;
  RowOfThread row_;
  Batch* open_[threads_max][kinds];
  std::vector<Batch*> free_;
  std::uint64_t slice_ = 0;      // that is being made
  std::uint64_t completed_ = 0;  // so many are closed here
  unsigned closed_[2] = {};      // by how many threads
};

// Seconds.
template <typename RowOfThread>
double run_row(Run& run) {
  typename Worker<RowOfThread>::Shared shared(run);
  const std::int64_t begin = nanoseconds();
  std::vector<std::unique_ptr<Worker<RowOfThread>>> workers;
  for (unsigned i = 0; i < run.threads; ++i) {
    workers.push_back(std::make_unique<Worker<RowOfThread>>(shared, i));
  }
  std::vector<std::thread> threads;
  for (auto& worker : workers) threads.emplace_back([&worker] { worker->work(); });
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(nanoseconds() - begin) / 1e9;
}

double count(Run& run);
double function(Run& run);
double broadcast(Run& run);
double async_map(Run& run);
double deduplicate(Run& run);
double count_window(Run& run);
double ysb(Run& run);
double nexmark7(Run& run);
double cm(Run& run);
double top_n(Run& run);
double trigger(Run& run);
double nexmark8(Run& run);
double nexmark8_projected(Run& run);
double co_group(Run& run);
double nexmark11(Run& run);
double interval_join(Run& run);
double sessions(Run& run);

}  // namespace stateful::bare
