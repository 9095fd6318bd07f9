// Batch: a run of records of one type, the unit in which everything moves.
//
// Type-erased below the API: a column of values (and one of timestamps where
// event time is on), the buffers that the values point into, and a type
// descriptor. An operator takes the typed span once per batch and loops over it.
//
// Ownership: a Batch is a handle to its storage. Batches move; `share()` makes a
// second handle (broadcast) and from then on the values are read-only until one
// handle is left. `clear()` keeps the memory for the next run: buffers go round
// between producer and consumer without a call to the allocator.
// A batch that holds views keeps the buffers they point into (`keep`); text made
// on the way is copied into the batch's own arena (`copy_text`).
// Behind a source with splits a batch is of one split (`split`, see source_splits.hpp);
// that belongs to the handle, and stays within the source's chain.
//
// Thread: one at a time; a ring channel hands it over. Cost: all calls O(1) but
// clear() of non-trivial types, reserve() and copies.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/buffer.hpp>
#include <hummer/detail/type_descriptor.hpp>
#include <hummer/status.hpp>

namespace hummer {

// Event time in milliseconds since 1970; the smallest one stands for "none yet".
using Timestamp = std::int64_t;
inline constexpr Timestamp no_timestamp = INT64_MIN;
inline constexpr Timestamp end_of_time = INT64_MAX;

inline constexpr std::uint32_t default_batch_records = 1024;

// Which split a batch is of, by its number in the source's subtask.
using SplitNumber = std::uint32_t;
inline constexpr SplitNumber no_split = UINT32_MAX;

class Batch {
 public:
  Batch() = default;
  // Empty, with room for `capacity` records.
  Batch(const TypeDescriptor& type, std::uint32_t capacity);
  // The values of `buffer` itself, `count` of them at `values`, without a copy.
  // REQUIRES: a trivial type; `values` aligned for it.
  static Batch adopt(const TypeDescriptor& type, BufferRef buffer, void* values,
                     std::uint32_t count);
  Batch(Batch&& other) noexcept
      : storage_(std::exchange(other.storage_, nullptr)),
        position_(std::exchange(other.position_, 0)),
        split_(std::exchange(other.split_, no_split)) {}
  Batch& operator=(Batch&& other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(position_, other.position_);
    std::swap(split_, other.split_);
    return *this;
  }
  ~Batch() {
    if (storage_) drop();
  }

  bool has_storage() const { return storage_ != nullptr; }
  const TypeDescriptor& type() const { return *storage_->type; }
  std::uint32_t size() const { return storage_ ? storage_->size : 0; }
  std::uint32_t capacity() const { return storage_ ? storage_->capacity : 0; }
  bool empty() const { return size() == 0; }

  // How many records the operator in hand has taken; the rest comes with the next call.
  std::uint32_t position() const { return position_; }
  bool finished() const { return position_ >= size(); }
  void advance_to(std::size_t position) { position_ = static_cast<std::uint32_t>(position); }

  SplitNumber split() const { return split_; }
  void set_split(SplitNumber split) { split_ = split; }

  // All values, also those before position(). REQUIRES: T is the batch's type.
  template <typename T>
  std::span<const T> values() const {
    if (storage_ == nullptr) return {};
    HUMMER_ASSERT(storage_->type->size_bytes == sizeof(T));
    return {static_cast<const T*>(storage_->values), storage_->size};
  }
  // To write or to move from. REQUIRES: unique().
  template <typename T>
  T* mutable_values() {
    HUMMER_ASSERT(unique() && storage_->type->size_bytes == sizeof(T));
    return static_cast<T*>(storage_->values);
  }
  const void* raw_values() const { return storage_->values; }
  void* raw_mutable_values() { return storage_->values; }
  // After writing values behind the old size. REQUIRES: size <= capacity().
  void set_size(std::size_t size) { storage_->size = static_cast<std::uint32_t>(size); }

  // Empty when the stream carries no event time.
  std::vector<Timestamp>& timestamps() { return storage_->timestamps; }
  const std::vector<Timestamp>& timestamps() const { return storage_->timestamps; }
  bool has_timestamps() const { return storage_ != nullptr && !storage_->timestamps.empty(); }

  bool unique() const {
    return storage_ != nullptr && storage_->references.load(std::memory_order_acquire) == 1;
  }
  // A second handle to the same records, read-only for both, at their start.
  Batch share() const;
  // Makes this handle the only one, copying the values if it must. Fails (false)
  // when the type cannot be copied.
  bool make_unique();

  // Makes room for `capacity` records in all; the values stay.
  void reserve(std::uint32_t capacity);
  // No records, no kept buffers; the memory stays. A shared or adopted storage is let go of:
  // then has_storage() is false.
  void clear();
  void release() { *this = Batch(); }

  void keep(const BufferRef& buffer);
  void keep_buffers_of(const Batch& other);
  std::span<const BufferRef> kept_buffers() const { return storage_->kept; }
  // A copy that lives as long as this batch's buffers are kept.
  std::string_view copy_text(std::string_view text);
  // `length` writable bytes in the arena.
  char* allocate_text(std::size_t length);

  // Memory that the records and the arena hold; not the kept buffers.
  std::size_t memory_bytes() const;

 private:
  struct Storage {
    std::atomic<std::uint32_t> references{1};
    const TypeDescriptor* type = nullptr;
    void* values = nullptr;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
    std::vector<Timestamp> timestamps;
    std::vector<BufferRef> kept;
    BufferRef adopted;  // set: `values` lies in it
    BufferRef arena;    // the chunk that is being filled; also in `kept`
    std::size_t arena_used = 0;
  };
  void drop();
  static void allocate_values(Storage& storage, std::uint32_t capacity);
  static void free_values(Storage& storage);

  Storage* storage_ = nullptr;
  std::uint32_t position_ = 0;
  SplitNumber split_ = no_split;
};

// What follows a batch on its way: nothing, or an event of the stream.
struct Control {
  enum class Kind : std::uint8_t {
    none,
    watermark,  // no record before `time` comes any more
    idle,       // nothing more at hand for now: what waits may be handed on
    barrier,    // the epoch `epoch` ends here
    end,        // the stream ends here
    inactive,   // nothing comes for a while, and watermarks need not wait for this input
    active,     // they wait for it again; a watermark says so, too
  };
  Kind kind = Kind::none;
  Timestamp time = no_timestamp;
  std::uint64_t epoch = 0;

  static Control watermark(Timestamp time) { return {Kind::watermark, time, 0}; }
  static Control idle() { return {Kind::idle, no_timestamp, 0}; }
  // `whole`: of a savepoint, which builds on nothing: no snapshot may be a delta.
  static Control barrier(std::uint64_t epoch, bool whole = false) {
    return {Kind::barrier, whole ? end_of_time : no_timestamp, epoch};
  }
  bool whole() const { return time == end_of_time; }  // of a barrier
  // Until the next watermark, or `active` where there is none to tell. Records may come meanwhile,
  // such as what timers emit: they hold no watermark, and may be late.
  static Control inactive() { return {Kind::inactive, no_timestamp, 0}; }
  static Control active() { return {Kind::active, no_timestamp, 0}; }
  static Control end() { return {Kind::end, end_of_time, 0}; }
  explicit operator bool() const { return kind != Kind::none; }
};

// A batch and the control behind it; either may be missing.
struct Element {
  Batch batch;
  Control control;
};

}  // namespace hummer
