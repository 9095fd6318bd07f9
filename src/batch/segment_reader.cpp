#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "batch/big_endian.hpp"
#include "batch/crc32.hpp"
#include "batch/segment.hpp"
#include "batch/vint.hpp"

namespace hummer::batch {
namespace {

constexpr std::size_t records_per_span = 512;
constexpr std::size_t least_buffer_bytes = 64;
constexpr std::size_t most_stored_bytes = std::size_t{256} << 10;

}  // namespace

// Raw bytes lie in `space`: [at, end) is not handed out yet, `raw_left` are to come.
struct SegmentReader::State {
  State(ReadableFile& its_file, SegmentPlace its_place, Codec codec, std::size_t its_buffer_bytes)
      : file(its_file),
        place(its_place),
        decompressor(codec == Codec::none ? nullptr : make_decompressor(codec)),
        buffer_bytes(std::max(its_buffer_bytes, least_buffer_bytes)) {}

  ReadableFile& file;
  SegmentPlace place;
  std::unique_ptr<Decompressor> decompressor;  // null: none
  std::size_t buffer_bytes;
  std::unique_ptr<char[]> space;
  std::size_t capacity = 0;
  const char* at = nullptr;
  const char* end = nullptr;
  std::uint64_t raw_left = 0;

  std::uint64_t stored_left = 0;         // to be read, without the CRC
  std::uint32_t crc = 0;                 // of what was read
  std::uint32_t crc_in_file = 0;         // known once all is read
  std::unique_ptr<char[]> stored_space;  // with a codec
  std::size_t stored_capacity = 0;
  std::string_view stored;  // of it: not decompressed yet

  bool is_open = false;
  bool is_whole = false;
  std::array<RecordView, records_per_span> views;

  std::size_t unparsed() const { return static_cast<std::size_t>(end - at); }
  std::uint64_t raw_remaining() const { return unparsed() + raw_left; }

  Status fail(ErrorCode code, const std::string& what) const {
    const std::uint64_t raw_at = place.raw_bytes - raw_remaining();
    std::string where = "'" + file.path() + "', segment at byte " + std::to_string(place.offset);
    where += decompressor == nullptr
                 ? ", at byte " + std::to_string(place.offset + raw_at)
                 : ", at its byte " + std::to_string(raw_at) + " before compression";
    return {code, where + ": " + what};
  }
  Status corrupt(const std::string& what) const { return fail(ErrorCode::corrupt_file, what); }

  Status open() {
    is_open = true;
    raw_left = place.raw_bytes;
    const std::uint64_t size = file.size_bytes();
    if (place.stored_bytes > size || place.offset > size - place.stored_bytes) {
      return corrupt("it has " + std::to_string(place.stored_bytes) +
                     " bytes, and the file ends at byte " + std::to_string(size));
    }
    const bool sizes_agree =
        place.raw_bytes >= segment_end_bytes && place.stored_bytes > segment_crc_bytes &&
        (decompressor != nullptr || place.raw_bytes == place.stored_bytes - segment_crc_bytes);
    if (!sizes_agree) {
      return corrupt("its lengths can't be: " + std::to_string(place.raw_bytes) +
                     " bytes before compression, " + std::to_string(place.stored_bytes) +
                     " stored");
    }
    stored_left = place.stored_bytes - segment_crc_bytes;
    make_space(static_cast<std::size_t>(std::min<std::uint64_t>(buffer_bytes, place.raw_bytes)));
    if (decompressor != nullptr) {
      stored_capacity = static_cast<std::size_t>(
          std::min<std::uint64_t>(std::min(buffer_bytes, most_stored_bytes), place.stored_bytes));
      stored_space = std::make_unique_for_overwrite<char[]>(stored_capacity + segment_crc_bytes);
    }
    return fill(capacity);
  }

  // A larger buffer, with what is not handed out at its front. Behind it is room for the end of the
  // segment and its CRC.
  void make_space(std::size_t bytes) {
    auto made =
        std::make_unique_for_overwrite<char[]>(bytes + segment_end_bytes + segment_crc_bytes);
    const std::size_t kept = unparsed();
    std::copy_n(at, kept, made.get());
    space = std::move(made);
    capacity = bytes;
    at = space.get();
    end = at + kept;
  }

  // Reads the next `bytes` of the segment to `into`; with the last of them the CRC, behind them.
  Status read_stored(char* into, std::size_t bytes) {
    const bool is_last = bytes == stored_left;
    const std::uint64_t offset =
        place.offset + place.stored_bytes - segment_crc_bytes - stored_left;
    std::span<char> wanted(into, bytes + (is_last ? segment_crc_bytes : 0));
    for (std::uint64_t from = offset; !wanted.empty();) {
      const Result<std::size_t> read = file.read_at(from, wanted);
      if (!read.ok()) return read.status();
      if (*read == 0) {
        return fail(ErrorCode::file_changed,
                    "the file became shorter: it ends at byte " + std::to_string(from));
      }
      from += *read;
      wanted = wanted.subspan(*read);
    }
    crc = crc32_after(crc, {into, bytes});
    if (is_last) crc_in_file = big_endian_32(into + bytes);
    stored_left -= bytes;
    return {};
  }

  // As many stored bytes as there is room for. REQUIRES: a codec, and that there are some to come.
  Status read_compressed() {
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(stored_capacity, stored_left));
    HUMMER_TRY(read_stored(stored_space.get(), bytes));
    stored = {stored_space.get(), bytes};
    return {};
  }

  Status decompress(char* into, std::size_t bytes) {
    for (std::size_t filled = 0; filled < bytes;) {
      if (stored.empty() && stored_left > 0) HUMMER_TRY(read_compressed());
      const Result<std::size_t> read = decompressor->read(stored, {into + filled, bytes - filled});
      if (!read.ok()) return fail(read.status().code(), read.status().message());
      filled += *read;
      if (filled < bytes && stored_left == 0) {
        return corrupt("the compressed bytes end too early: " + std::to_string(raw_left - filled) +
                       " are missing before compression");
      }
    }
    return {};
  }

  // Moves what is not handed out to the front, and has `most` bytes there, or as many as there are.
  // The end of the segment is never left alone: it comes along with what is before it, so it can be
  // checked before that goes out. REQUIRES: there is room for them, and they are not all there yet.
  Status fill(std::size_t most) {
    const std::size_t kept = unparsed();
    std::memmove(space.get(), at, kept);
    at = space.get();
    end = at + kept;
    std::uint64_t bytes = std::min<std::uint64_t>(most - kept, raw_left);
    if (raw_left - bytes <= segment_end_bytes) bytes = raw_left;
    char* const into = space.get() + kept;
    const auto wanted = static_cast<std::size_t>(bytes);
    HUMMER_TRY(decompressor == nullptr ? read_stored(into, wanted) : decompress(into, wanted));
    end += wanted;
    raw_left -= wanted;
    return {};
  }

  // Has more of the record that begins at `at`, which has `bytes`, as far as is known.
  Status fill_for(std::uint64_t bytes) {
    if (bytes > capacity) {
      // It is in the file where there is no codec. Else its bytes have to come before there is
      // more room, so what a length claims takes no memory.
      const bool is_there = decompressor == nullptr || capacity >= bytes / 2;
      if (is_there || unparsed() == capacity) {
        make_space(static_cast<std::size_t>(is_there ? bytes : 2 * capacity));
      }
    }
    // Not all of a buffer that a long record has made large.
    return fill(std::min(capacity, std::max<std::size_t>(buffer_bytes, bytes)));
  }

  // A record's lengths, and where its key begins: null where they are not all there.
  struct Lengths {
    const char* key = nullptr;
    std::int64_t key_bytes = 0;
    std::int64_t value_bytes = 0;
  };
  Lengths lengths() const {
    Lengths found;
    const char* const value_length = read_vint(at, end, found.key_bytes);
    if (value_length != nullptr) found.key = read_vint(value_length, end, found.value_bytes);
    return found;
  }

  // What keeps the record at `at` from being handed out: the end, a mistake, or bytes that are to
  // come, which are here afterwards.
  Status go_on() {
    const Lengths found = lengths();
    const std::uint64_t remaining = raw_remaining();
    if (found.key == nullptr) {
      if (raw_left == 0) return corrupt("the end is missing");
      return fill_for(2 * max_vint_bytes);
    }
    if (found.key_bytes == segment_end_mark && found.value_bytes == segment_end_mark) {
      if (remaining != segment_end_bytes) {
        return corrupt(std::to_string(remaining - segment_end_bytes) +
                       " bytes are behind the end of the records");
      }
      return check_end();
    }
    constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
    const auto head = static_cast<std::uint64_t>(found.key - at);
    const bool can_be = found.key_bytes >= 0 && found.key_bytes <= longest &&
                        found.value_bytes >= 0 && found.value_bytes <= longest;
    const std::uint64_t bytes = head + static_cast<std::uint64_t>(found.key_bytes) +
                                static_cast<std::uint64_t>(found.value_bytes);
    if (!can_be || bytes + segment_end_bytes > remaining) {
      return corrupt("a record's lengths can't be: key " + std::to_string(found.key_bytes) +
                     ", value " + std::to_string(found.value_bytes) + ", " +
                     std::to_string(remaining) + " bytes are left of the segment");
    }
    return fill_for(bytes);
  }

  // The codec's stream has to end where the records do, and the CRC has to be that of the bytes.
  Status check_end() {
    if (decompressor != nullptr) {
      char more = 0;
      do {
        if (stored.empty() && stored_left > 0) HUMMER_TRY(read_compressed());
        const Result<std::size_t> read = decompressor->read(stored, {&more, 1});
        if (!read.ok()) return fail(read.status().code(), read.status().message());
        if (*read > 0) return corrupt("bytes are behind the end of the records");
      } while (stored_left > 0 || !stored.empty());
      if (!decompressor->at_end()) return corrupt("the compressed bytes end too early");
    }
    if (crc != crc_in_file) return corrupt("its CRC is another one");
    at = end;
    is_whole = true;
    return {};
  }

  // How many views there are of whole records; `at` is behind them.
  std::size_t take_records() {
    const char* from = at;
    const char* const behind = end;
    std::size_t count = 0;
    while (count < records_per_span) {
      std::int64_t key_bytes = 0, value_bytes = 0;
      const char* key = read_vint(from, behind, key_bytes);
      if (key == nullptr) break;
      key = read_vint(key, behind, value_bytes);
      if (key == nullptr) break;
      // Negative ones are larger than any here.
      const auto left = static_cast<std::uint64_t>(behind - key);
      const auto key_size = static_cast<std::uint64_t>(key_bytes);
      const auto value_size = static_cast<std::uint64_t>(value_bytes);
      if (key_size > left || value_size > left - key_size ||
          (key_size | value_size) > std::numeric_limits<std::int32_t>::max()) {
        break;
      }
      views[count++] = {key, key + key_size, static_cast<std::uint32_t>(key_size),
                        static_cast<std::uint32_t>(value_size)};
      from = key + key_size + value_size;
    }
    at = from;
    return count;
  }
};

SegmentReader::SegmentReader(ReadableFile& file, SegmentPlace place, Codec codec,
                             std::size_t buffer_bytes)
    : state_(std::make_unique<State>(file, place, codec, buffer_bytes)) {}
SegmentReader::~SegmentReader() = default;

Result<std::span<const RecordView>> SegmentReader::next() {
  State& state = *state_;
  if (!state.is_open) HUMMER_TRY(state.open());
  for (;;) {
    if (state.is_whole) return std::span<const RecordView>();
    const std::size_t count = state.take_records();
    if (count > 0) {
      // The end is at hand then (fill), and checking it reads to other places than the records'.
      if (state.raw_remaining() == segment_end_bytes) HUMMER_TRY(state.go_on());
      return std::span<const RecordView>(state.views.data(), count);
    }
    HUMMER_TRY(state.go_on());
  }
}

}  // namespace hummer::batch
