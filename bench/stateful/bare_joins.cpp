// Bare loops of the window join and of co-group. Records are written once, into the batch that goes
// to their key's owner, which keeps the batch until the window is over; then the smaller side, the
// persons, is hashed and the other one looked up in groups.
#include "bare.hpp"

namespace stateful::bare {
namespace {

// What the join's function uses, where the user says so.
struct PersonPart {
  std::uint64_t id;
  std::array<char, 8> name;
};
struct AuctionPart {
  std::uint64_t id;
  std::uint64_t seller;
  std::int64_t reserve_cents;
};

template <typename P, typename A>
struct WindowedSides {
  WindowedSides(const Run& run) : house(run.row.scale, auctions_per_person) {}

  // This thread's persons and auctions, in the order of their times.
  template <typename Row>
  void produce(Worker<Row>& worker) const {
    const Scale& scale = worker.run().row.scale;
    const std::uint64_t persons = house.persons_of(scale.records);
    const std::uint64_t per_window = scale.records_per_window;
    std::uint64_t next = per_window;
    for (std::uint64_t i = worker.thread(); i < persons; i += worker.threads()) {
      const std::uint64_t event = i * (1 + auctions_per_person);
      for (std::uint64_t of = 0; of <= auctions_per_person; ++of) {
        for (; event + of >= next; next += per_window) worker.close_slice();
        if (of == 0) {
          put_person(worker, i);
        } else {
          put_auction(worker, i * auctions_per_person + of - 1);
        }
      }
    }
    const std::uint64_t end = persons * (1 + auctions_per_person);
    for (; next < end; next += per_window) worker.close_slice();
  }
  bool take(Batch& batch) {
    kept[batch.slice % 2][batch.kind].push_back(&batch);
    return true;
  }
  template <typename Row>
  void let_go(std::uint64_t slice, Worker<Row>& worker) {
    for (auto& batches : kept[slice % 2]) {
      for (Batch* const batch : batches) worker.free(batch);
      batches.clear();
    }
  }
  std::vector<Batch*>& persons_in(std::uint64_t slice) { return kept[slice % 2][0]; }
  std::vector<Batch*>& auctions_in(std::uint64_t slice) { return kept[slice % 2][1]; }

  House house;
  std::vector<Batch*> kept[2][kinds];

 private:
  template <typename Row>
  void put_person(Worker<Row>& worker, std::uint64_t index) const {
    P& to = worker.template put<P>(worker.owner(index), 0);
    if constexpr (std::is_same_v<P, Person>) {
      house.make(index, to);
    } else {
      Person person;
      house.make(index, person);
      materialise(person);
      to.id = person.id;
      std::memcpy(to.name.data(), person.name.data(), to.name.size());
    }
  }
  template <typename Row>
  void put_auction(Worker<Row>& worker, std::uint64_t index) const {
    if constexpr (std::is_same_v<A, Auction>) {
      A& to = worker.template put<A>(worker.owner(house.person_of(index)), 1);
      house.make(index, to);
    } else {
      Auction auction;
      house.make(index, auction);
      materialise(auction);
      worker.template put<A>(worker.owner(auction.seller), 1) = {auction.id, auction.seller,
                                                                 auction.reserve_cents};
    }
  }
};

template <typename P, typename A>
class JoinRow {
 public:
  explicit JoinRow(Worker<JoinRow>& worker) : worker_(worker), sides_(worker.run()) {}
  void produce(Worker<JoinRow>& worker) { sides_.produce(worker); }
  bool take(Batch& batch) { return sides_.take(batch); }
  void close(std::uint64_t slice) {
    for (Batch* const batch : sides_.persons_in(slice)) {
      persons_.each(
          batch->items<P>(), batch->size, [](const P& person) { return person.id; },
          [](const P& person, const P*& at, bool) { at = &person; });
    }
    constexpr std::size_t group = 64;
    const P* found[group];
    for (Batch* const batch : sides_.auctions_in(slice)) {
      const A* const auctions = batch->items<A>();
      for (std::size_t from = 0; from < batch->size; from += group) {
        const std::size_t count = std::min<std::size_t>(group, batch->size - from);
        for (std::size_t i = 0; i < count; ++i) persons_.prefetch(auctions[from + i].seller);
        for (std::size_t i = 0; i < count; ++i) {
          const P** const at = persons_.find(auctions[from + i].seller);
          found[i] = at != nullptr ? *at : nullptr;
          __builtin_prefetch(found[i]);
        }
        for (std::size_t i = 0; i < count; ++i) {
          if (found[i] == nullptr) continue;
          const A& auction = auctions[from + i];
          sum.add(
              Sale{found[i]->id, first_letters(found[i]->name), auction.id, auction.reserve_cents});
        }
      }
    }
    persons_.drain([](std::uint64_t, const P*) {});
    sides_.let_go(slice, worker_);
  }
  void finish() {}

  Checksum sum;

 private:
  Worker<JoinRow>& worker_;
  WindowedSides<P, A> sides_;
  Table<const P*> persons_;
};

class CoGroupRow {
  struct Group {
    std::uint64_t persons;
    std::uint64_t auctions;
    std::int64_t reserve_cents;
  };

 public:
  explicit CoGroupRow(Worker<CoGroupRow>& worker) : worker_(worker), sides_(worker.run()) {}
  void produce(Worker<CoGroupRow>& worker) { sides_.produce(worker); }
  bool take(Batch& batch) { return sides_.take(batch); }
  void close(std::uint64_t slice) {
    for (Batch* const batch : sides_.persons_in(slice)) {
      groups_.each(
          batch->items<Person>(), batch->size, [](const Person& person) { return person.id; },
          [](const Person&, Group& group, bool) { ++group.persons; });
    }
    for (Batch* const batch : sides_.auctions_in(slice)) {
      groups_.each(
          batch->items<Auction>(), batch->size, [](const Auction& one) { return one.seller; },
          [](const Auction& one, Group& group, bool) {
            ++group.auctions;
            group.reserve_cents += one.reserve_cents;
          });
    }
    const std::int64_t start = static_cast<std::int64_t>(slice) * worker_.run().row.scale.window_ms;
    groups_.drain([&](std::uint64_t person, const Group& group) {
      sum.add(person, start, group.persons, group.auctions, group.reserve_cents);
    });
    sides_.let_go(slice, worker_);
  }
  void finish() {}

  Checksum sum;

 private:
  Worker<CoGroupRow>& worker_;
  WindowedSides<Person, Auction> sides_;
  Table<Group> groups_;
};

}  // namespace

double nexmark8(Run& run) { return run_row<JoinRow<Person, Auction>>(run); }
double nexmark8_projected(Run& run) { return run_row<JoinRow<PersonPart, AuctionPart>>(run); }
double co_group(Run& run) { return run_row<CoGroupRow>(run); }

}  // namespace stateful::bare
