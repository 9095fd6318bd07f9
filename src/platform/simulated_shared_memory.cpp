#include "platform/simulated_shared_memory.hpp"

#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "platform/simulation.hpp"

namespace hummer {

struct SimulatedSegments::Bytes {
  static constexpr std::align_val_t page{4096};

  explicit Bytes(std::size_t size_bytes)
      : base(static_cast<char*>(::operator new(size_bytes, page))), size(size_bytes) {
    std::memset(base, 0, size);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { ::operator delete(base, page); }

  char* base;
  std::size_t size;
};

namespace {

class SimulatedSegment final : public SharedSegment {
 public:
  explicit SimulatedSegment(std::shared_ptr<SimulatedSegments::Bytes> bytes)
      : bytes_(std::move(bytes)) {}
  std::span<char> bytes() override { return {bytes_->base, bytes_->size}; }

 private:
  std::shared_ptr<SimulatedSegments::Bytes> bytes_;
};

}  // namespace

std::string SimulatedSegments::add(std::shared_ptr<Bytes> bytes, int machine) {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.bytes.expired(); });
  std::string place = "simulated:" + std::to_string(++made_);
  entries_[place] = {bytes, machine};
  return place;
}

std::shared_ptr<SimulatedSegments::Bytes> SimulatedSegments::find(const std::string& place,
                                                                  int machine) {
  const auto found = entries_.find(place);
  if (found == entries_.end() || found->second.machine != machine) return nullptr;
  return found->second.bytes.lock();
}

Result<MadeSegment> SimulatedSharedMemory::create(std::size_t size_bytes) {
  if (!node_.alive()) return Status(ErrorCode::cancelled, "the process was killed");
  node_.simulation().trace("shared memory", size_bytes);
  auto bytes = std::make_shared<SimulatedSegments::Bytes>(size_bytes);
  std::string place = node_.simulation().segments().add(bytes, node_.machine());
  return MadeSegment{std::make_unique<SimulatedSegment>(std::move(bytes)), std::move(place)};
}

Result<std::unique_ptr<SharedSegment>> SimulatedSharedMemory::open(std::string_view place,
                                                                   std::size_t size_bytes) {
  if (!node_.alive()) return Status(ErrorCode::cancelled, "the process was killed");
  auto bytes = node_.simulation().segments().find(std::string(place), node_.machine());
  if (bytes == nullptr || bytes->size != size_bytes) {
    return Status(ErrorCode::not_found,
                  "the shared memory " + std::string(place) + " is not visible from here");
  }
  node_.simulation().trace("shared memory opened", size_bytes);
  return std::unique_ptr<SharedSegment>(new SimulatedSegment(std::move(bytes)));
}

}  // namespace hummer
