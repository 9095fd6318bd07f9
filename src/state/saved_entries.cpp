#include <hummer/detail/state/saved_entries.hpp>

#include <hummer/status.hpp>

namespace hummer {
namespace {

struct SavedHead {
  std::uint64_t hash;
  std::uint64_t bytes;
};

}  // namespace

void SavedEntries::keep(std::uint64_t hash, std::string_view entry) {
  const SavedHead head{hash, entry.size()};
  if (chunks_.empty() || chunks_.back().size() + sizeof head + entry.size() > chunk_bytes) {
    chunks_.emplace_back().reserve(chunk_bytes);
  }
  chunks_.back().append(reinterpret_cast<const char*>(&head), sizeof head);
  chunks_.back().append(entry);
}

void SavedEntries::write_chunk(GroupedEntries& entries, ByteWriter& out) {
  for (ByteReader in(chunks_.front()); in.left() > 0;) {
    SavedHead head{};
    HUMMER_ASSERT(in.get_value(head));
    const char* const entry = in.take(head.bytes);
    entries.add(head.hash, out, [&](ByteWriter& to) { to.put(entry, head.bytes); });
  }
  chunks_.pop_front();
}

}  // namespace hummer
