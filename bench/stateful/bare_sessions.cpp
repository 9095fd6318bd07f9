// Bare loops of the session join, the interval join and counts per session. Time is cut into slices
// as long as the gap (or the interval). A slice's records are handled in the order of their times
// once all of them have come; what was not touched in the slice behind its own is over then, so
// that no timer is needed.
#include "bare.hpp"

namespace stateful::bare {
namespace {

// Values that are taken and given back one by one.
template <typename T>
class Pool {
 public:
  T* take() {
    if (free_.empty()) {
      chunks_.push_back(std::make_unique<T[]>(1'024));
      for (std::size_t i = 1'024; i-- > 0;) free_.push_back(&chunks_.back()[i]);
    }
    T* const one = free_.back();
    free_.pop_back();
    return one;
  }
  void give(T* one) { free_.push_back(one); }

 private:
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<T*> free_;
};

struct Timed {
  std::int64_t time_ms;
  std::uint64_t key;
  const Person* person;  // one of the two
  const Bid* bid;
};

// Makes persons and bids, and brings a slice's together in order. Row: handle(const Timed&, slice),
// and end_of(slice) behind them.
template <typename Row>
class SlicedRow {
 public:
  explicit SlicedRow(Worker<Row>& worker)
      : worker_(worker), house_(worker.run().row.scale, bids_per_person) {}

  void produce(Worker<Row>& worker) { make_persons_and_bids(worker, true); }
  bool take(Batch& batch) {
    kept_[batch.slice % 2][batch.sender][batch.kind].push_back(&batch);
    return true;
  }
  void close(std::uint64_t slice) {
    bring_together(slice);
    Row& row = static_cast<Row&>(*this);
    constexpr std::size_t ahead = 24;
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      if (i + ahead < timed_.size()) row.prefetch(timed_[i + ahead].key);
      row.handle(timed_[i], slice);
    }
    row.end_of(slice);
    for (auto& of_sender : kept_[slice % 2]) {
      for (auto& of_kind : of_sender) {
        for (Batch* const batch : of_kind) worker_.free(batch);
        of_kind.clear();
      }
    }
  }

  Checksum sum;

 protected:
  void make_persons_and_bids(Worker<Row>& worker, bool with_persons) {
    const Scale& scale = worker.run().row.scale;
    const std::uint64_t persons =
        with_persons ? house_.persons_of(scale.records) : scale.records / bids_per_person;
    std::uint64_t next = scale.records_per_window;
    for (std::uint64_t i = worker.thread(); i < persons; i += worker.threads()) {
      const std::uint64_t event = i * (1 + bids_per_person);
      for (std::uint64_t of = 0; of <= bids_per_person; ++of) {
        for (; event + of >= next; next += scale.records_per_window) worker.close_slice();
        if (of > 0) {
          const std::uint64_t bid = i * bids_per_person + of - 1;
          house_.make(bid, worker.template put<Bid>(worker.owner(house_.person_of(bid)), 1));
        } else if (with_persons) {
          house_.make(i, worker.template put<Person>(worker.owner(i), 0));
        }
      }
    }
    const std::uint64_t end = persons * (1 + bids_per_person);
    for (; next < end; next += scale.records_per_window) worker.close_slice();
  }
  std::int64_t slice_ms() const { return worker_.run().row.scale.window_ms; }

  Worker<Row>& worker_;

 private:
  struct Cursor {
    const std::vector<Batch*>* batches;
    std::size_t batch = 0;
    std::uint32_t at = 0;
    Timed head = {};
    // At the same time persons come first.
    bool before(const Cursor& other) const {
      if (head.time_ms != other.head.time_ms) return head.time_ms < other.head.time_ms;
      return head.person != nullptr && other.head.person == nullptr;
    }
    bool next() {
      if (batch == batches->size()) return false;
      Batch& in = *(*batches)[batch];
      if (in.kind == 0) {
        const Person& person = in.items<Person>()[at];
        head = {person.time_ms, person.id, &person, nullptr};
      } else {
        const Bid& bid = in.items<Bid>()[at];
        head = {bid.time_ms, bid.bidder, nullptr, &bid};
      }
      if (++at == in.size) {
        at = 0;
        ++batch;
      }
      return true;
    }
  };
  void bring_together(std::uint64_t slice) {
    timed_.clear();
    std::vector<Cursor> cursors;
    for (auto& of_sender : kept_[slice % 2]) {
      for (auto& of_kind : of_sender) {
        Cursor cursor{&of_kind};
        if (cursor.next()) cursors.push_back(cursor);
      }
    }
    while (!cursors.empty()) {
      std::size_t first = 0;
      for (std::size_t i = 1; i < cursors.size(); ++i) {
        if (cursors[i].before(cursors[first])) first = i;
      }
      timed_.push_back(cursors[first].head);
      if (!cursors[first].next())
        cursors.erase(cursors.begin() + static_cast<std::ptrdiff_t>(first));
    }
  }

  House house_;
  std::vector<Batch*> kept_[2][threads_max][kinds];
  std::vector<Timed> timed_;
};

// A session of a key, and what Rows keep of it: `begin(Session&)`, `add(Session&, const Timed&)`,
// `over(key, Session&)`.
template <typename Row, typename Session>
class SessionRow : public SlicedRow<Row> {
 public:
  using SlicedRow<Row>::SlicedRow;

  void prefetch(std::uint64_t key) const { sessions_.prefetch(key); }
  void handle(const Timed& one, std::uint64_t slice) {
    Row& row = static_cast<Row&>(*this);
    sessions_.make_room(1);
    auto [session, is_new] = sessions_.put(one.key);
    if (!is_new && one.time_ms - session->last_ms >= this->slice_ms()) {
      row.over(one.key, *session);
      is_new = true;
    }
    if (is_new || session->slice != slice) touched_[slice % 2].push_back(one.key);
    if (is_new) {
      *session = {};
      session->first_ms = one.time_ms;
    }
    session->slice = slice;
    session->last_ms = one.time_ms;
    row.add(*session, one);
  }
  void end_of(std::uint64_t slice) { end_those_before(slice, touched_[(slice + 1) % 2]); }
  void finish() {
    for (auto& keys : touched_) end_those_before(UINT64_MAX, keys);
  }

 private:
  void end_those_before(std::uint64_t slice, std::vector<std::uint64_t>& keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i + 16 < keys.size()) sessions_.prefetch(keys[i + 16]);
      Session* const session = sessions_.find(keys[i]);
      if (session == nullptr || session->slice >= slice) continue;
      static_cast<Row&>(*this).over(keys[i], *session);
      sessions_.erase(keys[i]);
    }
    keys.clear();
  }

  Table<Session> sessions_;
  std::vector<std::uint64_t> touched_[2];
};

struct PersonNode {
  Person person;
  PersonNode* next;
};
struct BidNode {
  Bid bid;
  BidNode* next;
};
struct JoinSession {
  std::uint64_t slice;  // in which it was touched last
  std::int64_t first_ms;
  std::int64_t last_ms;
  PersonNode* persons;
  BidNode* bids;
};

class SessionJoinRow : public SessionRow<SessionJoinRow, JoinSession> {
 public:
  using SessionRow::SessionRow;
  void add(JoinSession& session, const Timed& one) {
    if (one.person != nullptr) {
      PersonNode* const node = persons_.take();
      *node = {*one.person, session.persons};
      session.persons = node;
    } else {
      BidNode* const node = bids_.take();
      *node = {*one.bid, session.bids};
      session.bids = node;
    }
  }
  void over(std::uint64_t, JoinSession& session) {
    for (PersonNode* person = session.persons; person != nullptr; person = person->next) {
      for (const BidNode* bid = session.bids; bid != nullptr; bid = bid->next) {
        sum.add(Sale{person->person.id, first_letters(person->person.name), bid->bid.auction,
                     bid->bid.price_cents});
      }
    }
    for (PersonNode* person = session.persons; person != nullptr;) {
      persons_.give(std::exchange(person, person->next));
    }
    for (BidNode* bid = session.bids; bid != nullptr;) bids_.give(std::exchange(bid, bid->next));
  }

 private:
  Pool<PersonNode> persons_;
  Pool<BidNode> bids_;
};

struct CountSession {
  std::uint64_t slice;
  std::int64_t first_ms;
  std::int64_t last_ms;
  std::uint64_t count;
};
class SessionCountRow : public SessionRow<SessionCountRow, CountSession> {
 public:
  using SessionRow::SessionRow;
  void produce(Worker<SessionCountRow>& worker) { make_persons_and_bids(worker, false); }
  void add(CountSession& session, const Timed&) { ++session.count; }
  void over(std::uint64_t key, const CountSession& session) {
    sum.add(key, session.first_ms, session.last_ms + slice_ms(), session.count);
  }
};

// A person is there before its bids, and forgotten when none can come any more.
class IntervalJoinRow : public SlicedRow<IntervalJoinRow> {
 public:
  using SlicedRow::SlicedRow;
  void prefetch(std::uint64_t key) const { persons_.prefetch(key); }
  void handle(const Timed& one, std::uint64_t slice) {
    if (one.person != nullptr) {
      Person* const kept = pool_.take();
      *kept = *one.person;
      persons_.make_room(1);
      *persons_.put(one.key).first = kept;
      came_[slice % 2].push_back(one.key);
      return;
    }
    Person** const person = persons_.find(one.key);
    if (person == nullptr || one.time_ms - (*person)->time_ms > slice_ms()) return;
    sum.add(Sale{one.key, first_letters((*person)->name), one.bid->auction, one.bid->price_cents});
  }
  void end_of(std::uint64_t slice) {
    for (const std::uint64_t key : came_[(slice + 1) % 2]) {
      pool_.give(*persons_.find(key));
      persons_.erase(key);
    }
    came_[(slice + 1) % 2].clear();
  }
  void finish() {}

 private:
  Table<Person*> persons_;
  Pool<Person> pool_;
  std::vector<std::uint64_t> came_[2];
};

}  // namespace

double nexmark11(Run& run) { return run_row<SessionJoinRow>(run); }
double sessions(Run& run) { return run_row<SessionCountRow>(run); }
double interval_join(Run& run) { return run_row<IntervalJoinRow>(run); }

}  // namespace stateful::bare
