#include "batch/block_codecs.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <lz4.h>
#include <snappy.h>

#include "batch/big_endian.hpp"

namespace hummer::batch {
namespace {

constexpr std::size_t block_number_bytes = 4;

struct SnappyBlocks {
  static constexpr std::size_t block_bytes = snappy_block_bytes;
  static constexpr std::size_t largest_chunk = 32 + block_bytes + block_bytes / 6;

  static std::size_t compress(std::string_view bytes, char* to) {
    std::size_t size = 0;
    snappy::RawCompress(bytes.data(), bytes.size(), to, &size);
    return size;
  }
};

struct Lz4Blocks {
  static constexpr std::size_t block_bytes = lz4_block_bytes;
  static constexpr std::size_t largest_chunk = LZ4_COMPRESSBOUND(block_bytes);

  static std::size_t compress(std::string_view bytes, char* to) {
    return static_cast<std::size_t>(LZ4_compress_default(
        bytes.data(), to, static_cast<int>(bytes.size()), static_cast<int>(largest_chunk)));
  }
};

template <typename Blocks>
class BlockCompressor final : public Compressor {
 public:
  // Else Hadoop's readers could not take it.
  static_assert(Blocks::largest_chunk <= hadoop_block_buffer_bytes);

  Status write(std::string_view bytes, std::string& out) override {
    if (!begun_.empty()) {
      take(bytes, Blocks::block_bytes - begun_.size());
      if (begun_.size() < Blocks::block_bytes) return {};
      write_block(begun_, out);
      begun_.clear();
    }
    for (; bytes.size() >= Blocks::block_bytes; bytes.remove_prefix(Blocks::block_bytes)) {
      write_block(bytes.substr(0, Blocks::block_bytes), out);
    }
    take(bytes, bytes.size());
    return {};
  }

  Status finish(std::string& out) override {
    if (!begun_.empty() || is_empty_) write_block(begun_, out);
    begun_.clear();
    return {};
  }

  void reset() override {
    begun_.clear();
    is_empty_ = true;
  }

 private:
  void take(std::string_view& bytes, std::size_t most) {
    begun_.append(bytes.substr(0, most));
    bytes.remove_prefix(std::min(most, bytes.size()));
  }

  void write_block(std::string_view bytes, std::string& out) {
    is_empty_ = false;
    char* const place = space_.get();
    put_big_endian(place, static_cast<std::uint32_t>(bytes.size()));
    std::size_t end = block_number_bytes;
    if (!bytes.empty()) {
      end += block_number_bytes;
      const std::size_t size = Blocks::compress(bytes, place + end);
      put_big_endian(place + block_number_bytes, static_cast<std::uint32_t>(size));
      end += size;
    }
    out.append(place, end);
  }

  std::string begun_;  // what is no whole block yet
  bool is_empty_ = true;
  std::unique_ptr<char[]> space_ =
      std::make_unique_for_overwrite<char[]>(2 * block_number_bytes + Blocks::largest_chunk);
};

class BlockDecompressor : public Decompressor {
 public:
  explicit BlockDecompressor(std::string_view name) : name_(name) {}

  Result<std::size_t> read(std::string_view& in, std::span<char> into) override {
    std::size_t filled = 0;
    for (;;) {
      const std::size_t given = std::min(into.size() - filled, plain_end_ - plain_at_);
      std::copy_n(plain_.get() + plain_at_, given, into.data() + filled);
      plain_at_ += given;
      filled += given;
      if (filled == into.size() || in.empty()) return filled;
      if (next_ == Next::chunk) {
        if (!take_chunk(in)) return filled;
        Result<std::size_t> made = unpack_into(into.subspan(filled));
        if (!made.ok()) return made.status();
        filled += *made;
      } else if (std::uint32_t number = 0; take_number(in, number)) {
        HUMMER_TRY(begin(number));
      }
    }
  }

  bool at_end() const override {
    const bool between_blocks = next_ == Next::length_of_block || next_ == Next::end;
    return between_blocks && number_bytes_ == 0 && plain_at_ == plain_end_;
  }

  void reset() override {
    next_ = Next::length_of_block;
    number_bytes_ = 0;
    plain_at_ = plain_end_ = 0;
    gathered_.clear();
  }

 protected:
  // Unpacks a chunk, of at most `most` bytes, to `room` where that can hold it, else to
  // plain_space(): where it is, and how many bytes.
  struct Unpacked {
    const char* at;
    std::size_t bytes;
  };
  virtual Result<Unpacked> unpack(std::string_view chunk, std::size_t most,
                                  std::span<char> room) = 0;

  char* plain_space(std::size_t bytes) {
    if (bytes > plain_capacity_) {
      plain_.reset();
      plain_ = std::make_unique_for_overwrite<char[]>(bytes);
      plain_capacity_ = bytes;
    }
    return plain_.get();
  }

  std::size_t plain_capacity() const { return plain_capacity_; }

  Status fail(ErrorCode code, const std::string& what) const {
    return {code, std::string(name_) + ": " + what};
  }
  Status damaged() const {
    return fail(ErrorCode::corrupt_file, "the bytes of a chunk are damaged");
  }

 private:
  enum class Next : std::uint8_t { length_of_block, length_of_chunk, chunk, end };

  bool take_number(std::string_view& in, std::uint32_t& number) {
    const std::size_t taken = in.copy(number_ + number_bytes_, block_number_bytes - number_bytes_);
    in.remove_prefix(taken);
    number_bytes_ += taken;
    if (number_bytes_ < block_number_bytes) return false;
    number_bytes_ = 0;
    number = big_endian_32(number_);
    return true;
  }

  Status begin(std::uint32_t number) {
    constexpr auto largest_block = std::uint32_t{std::numeric_limits<std::int32_t>::max()};
    const std::string length = std::to_string(static_cast<std::int32_t>(number));
    if (next_ == Next::end) return fail(ErrorCode::corrupt_file, "bytes behind the end");
    if (next_ == Next::length_of_block) {
      if (number > largest_block) {
        return fail(ErrorCode::corrupt_file, "a block's length is " + length);
      }
      block_left_ = number;
      next_ = number == 0 ? Next::end : Next::length_of_chunk;
      return {};
    }
    if (number == 0 || number > largest_block) {
      return fail(ErrorCode::corrupt_file, "a chunk's length is " + length);
    }
    if (number > max_chunk_bytes) {
      return fail(ErrorCode::limit_exceeded, "a chunk's length is " + length + ", at most " +
                                                 std::to_string(max_chunk_bytes) + " are read");
    }
    chunk_bytes_ = number;
    gathered_.clear();
    next_ = Next::chunk;
    return {};
  }

  // Into chunk_, which is in `in` where all of it is there. False: there is more to come.
  bool take_chunk(std::string_view& in) {
    const std::size_t taken = std::min(in.size(), chunk_bytes_ - gathered_.size());
    if (taken == chunk_bytes_) {
      chunk_ = in.substr(0, taken);
    } else {
      gathered_.append(in.substr(0, taken));
      chunk_ = gathered_;
    }
    in.remove_prefix(taken);
    return chunk_.size() == chunk_bytes_;
  }

  // How many bytes of it are in `room`; what is elsewhere goes out from there.
  Result<std::size_t> unpack_into(std::span<char> room) {
    const Result<Unpacked> made =
        unpack(chunk_, std::min<std::size_t>(block_left_, max_chunk_bytes), room);
    if (!made.ok()) return made.status();
    // Nobody writes one, and it would be no step towards the end.
    if (made->bytes == 0) return damaged();
    block_left_ -= static_cast<std::uint32_t>(made->bytes);
    next_ = block_left_ == 0 ? Next::length_of_block : Next::length_of_chunk;
    if (made->at == room.data()) return made->bytes;
    plain_at_ = 0;
    plain_end_ = made->bytes;
    return std::size_t{0};
  }

  std::string_view name_;
  Next next_ = Next::length_of_block;
  char number_[block_number_bytes];
  std::size_t number_bytes_ = 0;
  std::uint32_t block_left_ = 0;  // what its chunks have not given yet
  std::size_t chunk_bytes_ = 0;
  std::string_view chunk_;
  std::string gathered_;  // of a chunk that comes in pieces
  std::unique_ptr<char[]> plain_;
  std::size_t plain_capacity_ = 0;
  std::size_t plain_at_ = 0;  // what is there and has not gone out
  std::size_t plain_end_ = 0;
};

class SnappyDecompressor final : public BlockDecompressor {
 public:
  SnappyDecompressor() : BlockDecompressor("snappy") {}

 private:
  Result<Unpacked> unpack(std::string_view chunk, std::size_t most, std::span<char> room) override {
    // A copy has three bytes for up to 64.
    constexpr std::size_t most_per_byte = 22;
    std::size_t size = 0;
    if (!snappy::GetUncompressedLength(chunk.data(), chunk.size(), &size) ||
        size > most_per_byte * chunk.size()) {
      return damaged();
    }
    if (size > max_chunk_bytes) {
      return fail(ErrorCode::limit_exceeded, "a chunk stands for " + std::to_string(size) +
                                                 " bytes, at most " +
                                                 std::to_string(max_chunk_bytes) + " are read");
    }
    if (size > most) {
      return fail(ErrorCode::corrupt_file, "a chunk stands for " + std::to_string(size) +
                                               " bytes, and at most " + std::to_string(most) +
                                               " may come");
    }
    char* const to = size <= room.size() ? room.data() : plain_space(size);
    if (!snappy::RawUncompress(chunk.data(), chunk.size(), to)) return damaged();
    return Unpacked{to, size};
  }
};

class Lz4Decompressor final : public BlockDecompressor {
 public:
  Lz4Decompressor() : BlockDecompressor("lz4") {}

 private:
  // A chunk does not say what it stands for. Where there may be more than there is room for, room
  // is tried that grows: it is Hadoop's buffer nearly always.
  Result<Unpacked> unpack(std::string_view chunk, std::size_t most, std::span<char> room) override {
    constexpr std::size_t most_per_byte = 255;
    most = std::min(most, most_per_byte * chunk.size());
    if (most <= room.size()) return unpack_to(chunk, room.first(most));
    std::size_t tried = std::min(most, std::max(plain_capacity(), hadoop_block_buffer_bytes));
    for (;;) {
      const Result<Unpacked> made = unpack_to(chunk, {plain_space(tried), tried});
      if (made.ok() || tried == most) return made;
      tried = std::min(most, 2 * tried);
    }
  }

  Result<Unpacked> unpack_to(std::string_view chunk, std::span<char> to) const {
    const int size = LZ4_decompress_safe(chunk.data(), to.data(), static_cast<int>(chunk.size()),
                                         static_cast<int>(to.size()));
    if (size < 0) return damaged();
    return Unpacked{to.data(), static_cast<std::size_t>(size)};
  }
};

}  // namespace

std::unique_ptr<Compressor> make_snappy_compressor() {
  return std::make_unique<BlockCompressor<SnappyBlocks>>();
}
std::unique_ptr<Compressor> make_lz4_compressor() {
  return std::make_unique<BlockCompressor<Lz4Blocks>>();
}
std::unique_ptr<Decompressor> make_snappy_decompressor() {
  return std::make_unique<SnappyDecompressor>();
}
std::unique_ptr<Decompressor> make_lz4_decompressor() {
  return std::make_unique<Lz4Decompressor>();
}

}  // namespace hummer::batch
