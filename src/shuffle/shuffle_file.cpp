#include "shuffle/shuffle_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <hummer/detail/key_hash.hpp>

#include "net/transport.hpp"

namespace hummer {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

constexpr std::uint64_t footer_magic = 0x3146554853'4D5548;  // "HUMSHUF1"

struct Footer {
  std::uint64_t magic = footer_magic;
  std::uint32_t partitions = 0;
  std::uint32_t reserved = 0;
  std::uint64_t entries = 0;
  std::uint64_t index_offset = 0;
  std::uint64_t index_check = 0;
  std::uint64_t reserved_words[2] = {};
  std::uint64_t check = 0;

  std::uint64_t right_check() const { return hash_bytes(this, offsetof(Footer, check)); }
};
static_assert(sizeof(Footer) == 64);

std::string_view bytes_of(const std::vector<ChunkEntry>& entries) {
  return {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(ChunkEntry)};
}

}  // namespace

// ---- writing ----

Status ShuffleFileWriter::append(std::uint32_t partition, std::string_view chunk) {
  HUMMER_ASSERT(partition < partitions_ && !chunk.empty() && chunk.size() <= max_chunk_bytes &&
                chunk.size() % transport_alignment == 0);
  HUMMER_TRY(file_->append(chunk));
  entries_.push_back({partition, static_cast<std::uint32_t>(chunk.size()), bytes_,
                      hash_bytes(chunk.data(), chunk.size())});
  bytes_ += chunk.size();
  return {};
}

Status ShuffleFileWriter::finish() {
  std::stable_sort(entries_.begin(), entries_.end(), [](const ChunkEntry& a, const ChunkEntry& b) {
    return a.partition < b.partition;
  });
  const std::string_view index = bytes_of(entries_);
  HUMMER_TRY(file_->append(index));
  Footer footer;
  footer.partitions = partitions_;
  footer.entries = entries_.size();
  footer.index_offset = bytes_;
  footer.index_check = hash_bytes(index.data(), index.size());
  footer.check = footer.right_check();
  HUMMER_TRY(file_->append({reinterpret_cast<const char*>(&footer), sizeof footer}));
  return file_->close();
}

// ---- reading ----

Result<std::shared_ptr<const ShuffleFile>> ShuffleFile::open(std::unique_ptr<ReadableFile> file) {
  const std::shared_ptr<ShuffleFile> opened(new ShuffleFile(std::move(file)));
  HUMMER_TRY(opened->read_index());
  return std::shared_ptr<const ShuffleFile>(opened);
}

Status ShuffleFile::corrupt(std::string_view what) const {
  return {ErrorCode::corrupt_file, fmt::format("shuffle file '{}' {}", file_->path(), what)};
}

Status ShuffleFile::read_exactly(std::uint64_t offset, std::span<char> into) const {
  const Result<std::size_t> got = file_->read_at(offset, into);
  if (!got.ok()) return got.status();
  return *got == into.size() ? Status() : corrupt("is shorter than it was");
}

Status ShuffleFile::read_index() {
  const std::uint64_t size = file_->size_bytes();
  if (size < sizeof(Footer)) return corrupt("is too short to be one");
  Footer footer;
  HUMMER_TRY(read_exactly(size - sizeof footer, {reinterpret_cast<char*>(&footer), sizeof footer}));
  if (footer.magic != footer_magic || footer.check != footer.right_check()) {
    return corrupt("does not end as one does: it is not whole, or damaged");
  }
  const std::uint64_t room = size - sizeof footer;
  const bool fits = footer.reserved == 0 && footer.index_offset <= room &&
                    footer.entries <= room / sizeof(ChunkEntry) &&
                    footer.index_offset + footer.entries * sizeof(ChunkEntry) == room &&
                    footer.partitions > 0 && footer.partitions <= max_shuffle_partitions;
  if (!fits) return corrupt("has an index that does not fit into it");
  partitions_ = footer.partitions;
  entries_.resize(footer.entries);
  const std::string_view index = bytes_of(entries_);
  HUMMER_TRY(read_exactly(footer.index_offset, {const_cast<char*>(index.data()), index.size()}));
  if (hash_bytes(index.data(), index.size()) != footer.index_check) {
    return corrupt("has a damaged index (its check differs)");
  }
  return check_entries(footer.index_offset);
}

// So that no length of it need be looked at again: chunks fill the file up to the index.
Status ShuffleFile::check_entries(std::uint64_t index_offset) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const ChunkEntry& entry = entries_[i];
    const bool in_order =
        i == 0 || entries_[i - 1].partition < entry.partition ||
        (entries_[i - 1].partition == entry.partition && entries_[i - 1].offset < entry.offset);
    const bool valid = in_order && entry.partition < partitions_ && entry.bytes > 0 &&
                       entry.bytes <= max_chunk_bytes && entry.bytes % transport_alignment == 0 &&
                       entry.offset <= index_offset && entry.bytes <= index_offset - entry.offset;
    if (!valid) return corrupt("has an index that makes no sense");
    sum += entry.bytes;
  }
  return sum == index_offset ? Status() : corrupt("has an index that lacks a part of it");
}

std::span<const ChunkEntry> ShuffleFile::chunks(std::uint32_t partition) const {
  HUMMER_ASSERT(partition < partitions_);
  const auto [first, last] = std::equal_range(
      entries_.begin(), entries_.end(), ChunkEntry{.partition = partition},
      [](const ChunkEntry& a, const ChunkEntry& b) { return a.partition < b.partition; });
  return {first, last};
}

Status ShuffleFile::read(const ChunkEntry& entry, std::span<char> into) const {
  HUMMER_ASSERT(into.size() == entry.bytes);
  HUMMER_TRY(read_exactly(entry.offset, into));
  if (hash_bytes(into.data(), into.size()) == entry.check) return {};
  return corrupt(fmt::format("is damaged in the {} bytes at {} (their check differs)", entry.bytes,
                             entry.offset));
}

}  // namespace hummer
