#include <hummer/detail/state/saved_entries.hpp>

namespace hummer {

void SavedEntries::keep(std::string_view entry) {
  if (chunks_.empty() || chunks_.back().size() + entry.size() > chunk_bytes) {
    chunks_.emplace_back().reserve(chunk_bytes);
  }
  chunks_.back().append(entry);
}

void SavedEntries::write_chunk(ByteWriter& out) {
  out.put(chunks_.front().data(), chunks_.front().size());
  chunks_.pop_front();
}

}  // namespace hummer
