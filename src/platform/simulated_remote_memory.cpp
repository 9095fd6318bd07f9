#include "platform/simulated_remote_memory.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "platform/simulated_network.hpp"
#include "platform/simulation.hpp"

namespace hummer {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::uint64_t most_pieces = 6;                 // of a write
constexpr Nanoseconds look_again_ns = milliseconds(10);  // through a partition

class Pages {
 public:
  explicit Pages(std::size_t size)
      : base_(static_cast<char*>(::operator new(size, page))), size_(size) {
    std::memset(base_, 0, size);
  }
  ~Pages() { ::operator delete(base_, page); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::span<char> bytes() const { return {base_, size_}; }

 private:
  static constexpr std::align_val_t page{4096};
  char* base_;
  std::size_t size_;
};

}  // namespace

// Both directions between two ends. End 0 is the one that was created.
class SimulatedWires : public std::enable_shared_from_this<SimulatedWires> {
 public:
  SimulatedWires(SimulatedPlatform& maker, WriteOrder order_, std::size_t size_bytes)
      : order(order_),
        simulation_(maker.simulation()),
        delivery_(&SimulatedWires::deliver_due, this) {
    ends_[0].node = ends_[1].node = &maker;
    for (End& end : ends_) end.memory = std::make_unique<Pages>(size_bytes);
    longest_queue_ = 2 + simulation_.random().below(60);
  }

  void join(SimulatedPlatform& opener) {
    ends_[1].node = &opener;
    joined_ = true;
  }
  bool joined() const { return joined_; }
  std::span<char> bytes(int end) const { return ends_[end].memory->bytes(); }
  std::size_t under_way(int end) const { return ends_[end].under_way; }
  void leave(int end) { ends_[end].gone = true; }

  bool write(int from, const RemoteMemory::Range& range, std::optional<std::uint32_t> told);
  Status progress(int end, std::vector<std::uint32_t>& told);

  const WriteOrder order;

 private:
  struct Writing {
    std::size_t pieces = 0;  // that have not arrived
    std::optional<std::uint32_t> told;
  };
  struct Piece {
    Nanoseconds when = 0;
    RemoteMemory::Range range;
    std::shared_ptr<Writing> writing;
  };
  struct End {
    SimulatedPlatform* node = nullptr;
    std::unique_ptr<Pages> memory;
    bool gone = false;
    std::size_t under_way = 0;
    std::vector<Piece> coming;  // to this end
    Nanoseconds latest = 0;     // of them, and of those that have arrived
    std::vector<std::uint32_t> told;
  };

  static void deliver_due(void* context);
  void deliver(int to, Nanoseconds now);
  void arm();
  bool dead(int end) const { return ends_[end].gone || !ends_[end].node->alive(); }
  Nanoseconds latency() {
    const SimulationOptions& options = simulation_.options();
    const Nanoseconds drawn =
        simulation_.random().between(options.latency_minimum_ns / 4, options.latency_maximum_ns);
    return simulation_.random().chance(options.delay_rate) ? drawn * 100 : drawn;
  }

  Simulation& simulation_;
  End ends_[2];
  Timer delivery_;
  bool joined_ = false;
  std::size_t longest_queue_;
};

bool SimulatedWires::write(int from, const RemoteMemory::Range& range,
                           std::optional<std::uint32_t> told) {
  End& own = ends_[from];
  End& other = ends_[1 - from];
  HUMMER_ASSERT(joined_ && range.size > 0);
  HUMMER_ASSERT(range.from + range.size <= bytes(from).size() &&
                range.to + range.size <= bytes(from).size());
  if (own.under_way >= longest_queue_) return false;
  ++own.under_way;
  simulation_.trace("remote write", range.size);
  Random& random = simulation_.random();
  std::vector<std::size_t> cuts = {0, range.size};
  const std::uint64_t pieces = random.below(most_pieces);
  for (std::uint64_t i = 0; i < pieces; ++i) {
    const std::size_t cut = random.below(range.size);
    // Mostly between words.
    cuts.push_back(random.chance(0.2) ? cut : cut / word * word);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  const auto writing = std::make_shared<Writing>(Writing{cuts.size() - 1, told});
  const Nanoseconds now = simulation_.now();
  const Nanoseconds earliest = order == WriteOrder::none ? now : std::max(now, other.latest);
  Nanoseconds before = earliest;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const std::size_t at = cuts[i], size = cuts[i + 1] - at;
    Nanoseconds when = earliest + latency();
    // Of a word the lower bytes come first.
    if (order == WriteOrder::bytes || (range.to + at) % word != 0) when = std::max(when, before);
    before = when;
    other.latest = std::max(other.latest, when);
    other.coming.push_back({when, {range.from + at, range.to + at, size}, writing});
  }
  arm();
  return true;
}

void SimulatedWires::arm() {
  Nanoseconds next = never;
  for (const End& end : ends_) {
    for (const Piece& piece : end.coming) next = std::min(next, piece.when);
  }
  if (next != never) simulation_.events_.arm(delivery_, std::max(next, simulation_.now() + 1));
}

void SimulatedWires::deliver_due(void* context) {
  SimulatedWires& self = *static_cast<SimulatedWires*>(context);
  const Nanoseconds now = self.simulation_.now();
  for (const int to : {0, 1}) self.deliver(to, now);
  self.arm();
}

void SimulatedWires::deliver(int to, Nanoseconds now) {
  End& end = ends_[to];
  End& from = ends_[1 - to];
  if (simulation_.fabric_->separated(end.node->index_, from.node->index_)) {
    for (Piece& piece : end.coming) {
      piece.when = std::max(piece.when, now + look_again_ns);
      end.latest = std::max(end.latest, piece.when);
    }
    return;
  }
  // In order of time; those of one moment as they were begun.
  std::stable_sort(end.coming.begin(), end.coming.end(),
                   [](const Piece& a, const Piece& b) { return a.when < b.when; });
  std::size_t taken = 0;
  for (; taken < end.coming.size() && end.coming[taken].when <= now; ++taken) {
    const Piece& piece = end.coming[taken];
    // What an end had under way when it went arrives in part, and then nobody is told of it.
    if (dead(to) || dead(1 - to)) {
      piece.writing->told.reset();
    } else {
      std::memcpy(end.memory->bytes().data() + piece.range.to,
                  from.memory->bytes().data() + piece.range.from, piece.range.size);
    }
    if (--piece.writing->pieces > 0) continue;
    --from.under_way;
    if (piece.writing->told) end.told.push_back(*piece.writing->told);
  }
  end.coming.erase(end.coming.begin(), end.coming.begin() + static_cast<std::ptrdiff_t>(taken));
}

Status SimulatedWires::progress(int end, std::vector<std::uint32_t>& told) {
  End& own = ends_[end];
  told.insert(told.end(), own.told.begin(), own.told.end());
  own.told.clear();
  if (!dead(1 - end) || !own.coming.empty()) return {};
  return {ErrorCode::peer_gone, "the other end of the remote memory is gone"};
}

namespace {

class SimulatedRemoteMemory final : public RemoteMemory {
 public:
  SimulatedRemoteMemory(std::shared_ptr<SimulatedWires> wires, int end)
      : wires_(std::move(wires)), end_(end) {}
  ~SimulatedRemoteMemory() override { wires_->leave(end_); }

  std::span<char> bytes() override { return wires_->bytes(end_); }
  WriteOrder order() const override { return wires_->order; }
  std::string description() const override { return "simulated writes"; }
  std::string answer() const override { return "joined"; }
  Status answered(std::string_view answer) override {
    if (answer == "joined") return {};
    return {ErrorCode::protocol_error, "no answer of the other end of remote memory"};
  }
  Status connect() override { return {}; }
  bool ready() const override { return wires_->joined(); }
  bool write(const Range& range, std::optional<std::uint32_t> told) override {
    return wires_->write(end_, range, told);
  }
  std::size_t under_way() const override { return wires_->under_way(end_); }
  Status progress(std::vector<std::uint32_t>& told) override {
    return wires_->progress(end_, told);
  }

 private:
  const std::shared_ptr<SimulatedWires> wires_;
  const int end_;
};

}  // namespace

std::string SimulatedRemoteMemories::add(std::weak_ptr<SimulatedWires> wires) {
  std::erase_if(waiting_, [](const auto& entry) { return entry.second.expired(); });
  std::string place = "simulated-writes:" + std::to_string(++made_);
  waiting_[place] = std::move(wires);
  return place;
}

std::shared_ptr<SimulatedWires> SimulatedRemoteMemories::take(std::string_view place) {
  const auto found = waiting_.find(place);
  if (found == waiting_.end()) return nullptr;
  const std::shared_ptr<SimulatedWires> wires = found->second.lock();
  waiting_.erase(found);
  return wires;
}

Result<MadeRemoteMemory> SimulatedRemoteMemoryDevice::create(std::size_t size_bytes, std::size_t,
                                                             std::string_view) {
  if (!node_.alive()) return Status(ErrorCode::cancelled, "the process was killed");
  node_.simulation().trace("remote memory", size_bytes);
  const auto wires = std::make_shared<SimulatedWires>(node_, order_, size_bytes);
  std::string place = node_.simulation().remote_memories().add(wires);
  return MadeRemoteMemory{std::make_unique<SimulatedRemoteMemory>(wires, 0), std::move(place)};
}

Result<std::unique_ptr<RemoteMemory>> SimulatedRemoteMemoryDevice::open(std::string_view place,
                                                                        std::size_t size_bytes,
                                                                        std::size_t) {
  if (!node_.alive()) return Status(ErrorCode::cancelled, "the process was killed");
  const auto wires = node_.simulation().remote_memories().take(place);
  if (wires == nullptr || wires->bytes(0).size() != size_bytes || wires->order != order_) {
    return Status(ErrorCode::not_found,
                  "the remote memory " + std::string(place) + " can't be reached from here");
  }
  wires->join(node_);
  return std::unique_ptr<RemoteMemory>(std::make_unique<SimulatedRemoteMemory>(wires, 1));
}

}  // namespace hummer
