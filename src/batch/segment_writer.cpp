#include <algorithm>
#include <limits>
#include <utility>

#include "batch/big_endian.hpp"
#include "batch/crc32.hpp"
#include "batch/segment.hpp"
#include "batch/vint.hpp"

namespace hummer::batch {

struct SegmentWriter::State {
  State(WritableFile& its_file, Codec codec, int level)
      : file(its_file),
        compressor(codec == Codec::none ? nullptr : make_compressor(codec, level)),
        capacity(best_write_bytes(codec)),
        space(std::make_unique_for_overwrite<char[]>(capacity + segment_end_room)),
        at(space.get()),
        end(space.get() + capacity) {}

  // Behind the buffer, for the end of a segment and its CRC; also what write_vint may change.
  static constexpr std::size_t segment_end_room = 2 * max_vint_bytes;

  WritableFile& file;
  std::unique_ptr<Compressor> compressor;  // null: none
  std::size_t capacity;
  std::unique_ptr<char[]> space;
  // What is not written yet lies before `at`. After a failure there is no room, so that each add
  // comes to where the failure is known.
  char* at;
  char* end;
  bool begun = false;
  SegmentPlace place;         // of the segment that is being written
  std::uint64_t written = 0;  // of its raw bytes, those not in the buffer
  std::uint32_t crc = 0;
  std::string stored;  // what the compressor has given
  Status failure;

  Status fail(Status why) {
    at = end = space.get();
    failure = std::move(why);
    return failure;
  }

  void begin() {
    if (begun) return;
    begun = true;
    place = {.offset = file.size_bytes()};
    written = 0;
    crc = 0;
  }

  Status append_stored(std::string_view bytes) {
    if (bytes.empty()) return {};
    crc = crc32_after(crc, bytes);
    place.stored_bytes += bytes.size();
    if (Status status = file.append(bytes); !status.ok()) return fail(std::move(status));
    return {};
  }

  // At most as many bytes as the buffer has, else what the compressor gives would have no bound.
  Status write_raw(std::string_view bytes) {
    written += bytes.size();
    if (compressor == nullptr) return append_stored(bytes);
    stored.clear();
    if (Status status = compressor->write(bytes, stored); !status.ok()) {
      return fail(status.with_context(file.path()));
    }
    return append_stored(stored);
  }

  Status flush() {
    begin();
    const std::string_view bytes(space.get(), static_cast<std::size_t>(at - space.get()));
    HUMMER_TRY(write_raw(bytes));
    at = space.get();
    return {};
  }

  // Through the buffer, which goes out each time it is full; what is as long goes by it.
  Status put(std::string_view bytes) {
    while (!bytes.empty()) {
      if (at == space.get() && bytes.size() >= capacity) {
        begin();
        HUMMER_TRY(write_raw(bytes.substr(0, capacity)));
        bytes.remove_prefix(capacity);
        continue;
      }
      const std::size_t taken = bytes.copy(at, static_cast<std::size_t>(end - at));
      at += taken;
      bytes.remove_prefix(taken);
      if (at == end) HUMMER_TRY(flush());
    }
    return {};
  }

  // The end, what is left and the CRC go out by one call: where there are many partitions, segments
  // are small.
  Status end_segment() {
    if (!failure.ok()) return failure;
    begin();
    at = write_vint(write_vint(at, segment_end_mark), segment_end_mark);
    char* last = space.get();
    auto bytes = static_cast<std::size_t>(at - last);
    at = last;
    place.raw_bytes = written + bytes;
    if (compressor != nullptr) {
      stored.clear();
      Status status = compressor->write({last, bytes}, stored);
      if (status.ok()) status = compressor->finish(stored);
      if (!status.ok()) return fail(status.with_context(file.path()));
      compressor->reset();
      bytes = stored.size();
      stored.resize(bytes + segment_crc_bytes);
      last = stored.data();
    }
    crc = crc32_after(crc, {last, bytes});
    put_big_endian(last + bytes, crc);
    place.stored_bytes += bytes + segment_crc_bytes;
    Status status = file.append({last, bytes + segment_crc_bytes});
    return status.ok() ? status : fail(std::move(status));
  }

  Status add_slowly(std::string_view key, std::string_view value) {
    if (!failure.ok()) return failure;
    constexpr std::size_t longest = std::numeric_limits<std::int32_t>::max();
    if (key.size() > longest || value.size() > longest) {
      return {ErrorCode::invalid_argument, "a record for '" + file.path() + "' has a key of " +
                                               std::to_string(key.size()) + " and a value of " +
                                               std::to_string(value.size()) +
                                               " bytes: each may have 2147483647"};
    }
    char lengths[2 * max_vint_bytes];
    char* lengths_end = write_vint(lengths, static_cast<std::int64_t>(key.size()));
    lengths_end = write_vint(lengths_end, static_cast<std::int64_t>(value.size()));
    HUMMER_TRY(put({lengths, lengths_end}));
    HUMMER_TRY(put(key));
    return put(value);
  }
};

SegmentWriter::SegmentWriter(WritableFile& file, Codec codec, int level)
    : state_(std::make_unique<State>(file, codec, level)) {}
SegmentWriter::~SegmentWriter() = default;

Status SegmentWriter::add(std::string_view key, std::string_view value) {
  State& state = *state_;
  const auto room = static_cast<std::size_t>(state.end - state.at);
  if (key.size() >= room || value.size() >= room ||
      key.size() + value.size() + 2 * max_length_bytes > room) {
    return state.add_slowly(key, value);
  }
  char* at = write_vint(state.at, static_cast<std::int64_t>(key.size()));
  at = write_vint(at, static_cast<std::int64_t>(value.size()));
  std::copy_n(key.data(), key.size(), at);
  std::copy_n(value.data(), value.size(), at + key.size());
  state.at = at + key.size() + value.size();
  return {};
}

Result<SegmentPlace> SegmentWriter::finish() {
  State& state = *state_;
  HUMMER_TRY(state.end_segment());
  state.begun = false;
  return state.place;
}

}  // namespace hummer::batch
