#include "connectors/file_store/seen_files.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hummer {

bool SeenFiles::comes_before(const StoredFile& a, const StoredFile& b) const {
  if (order_ == FileOrder::name) return a.path < b.path;
  return std::tie(a.modified_ms, a.path) < std::tie(b.modified_ms, b.path);
}

SeenFiles::State SeenFiles::find(const StoredFile& file) const {
  const auto found = files_.find(file.path);
  if (found != files_.end()) {
    const Known& known = found->second;
    const bool same = known.size_bytes == file.size_bytes && known.modified_ms == file.modified_ms;
    return same ? State::taken : State::changed;
  }
  const bool forgotten = !horizon_.path.empty() && !comes_before(horizon_, file);
  return forgotten ? State::taken : State::unknown;
}

void SeenFiles::add(const StoredFile& file) {
  files_[file.path] = {file.size_bytes, file.modified_ms};
  new_.push_back(file.path);
  if (new_.size() > remembered_) {
    new_.clear();
    has_lost_new_ = true;
  }
  if (files_.size() > remembered_) forget_oldest();
}

// A tenth at a time, so that sorting them costs little per file.
void SeenFiles::forget_oldest() {
  std::vector<StoredFile> files;
  files.reserve(files_.size());
  for (const auto& [path, known] : files_) {
    files.push_back({path, known.size_bytes, known.modified_ms, {}});
  }
  const std::size_t kept = remembered_ - remembered_ / 10;
  const auto border = files.begin() + static_cast<std::ptrdiff_t>(files.size() - kept - 1);
  std::nth_element(files.begin(), border, files.end(),
                   [&](const StoredFile& a, const StoredFile& b) { return comes_before(a, b); });
  for (auto file = files.begin(); file <= border; ++file) files_.erase(file->path);
  if (horizon_.path.empty() || comes_before(horizon_, *border)) horizon_ = *border;
}

void SeenFiles::put(const std::string& path, const Known& known, ByteWriter& out) {
  out.put_text(path);
  out.put_value(known.size_bytes);
  out.put_value(known.modified_ms);
}

void SeenFiles::snapshot(bool delta, ByteWriter& out) {
  put(horizon_.path, {horizon_.size_bytes, horizon_.modified_ms}, out);
  if (delta) {
    // Those that were forgotten meanwhile are behind the horizon.
    std::erase_if(new_, [&](const std::string& path) { return !files_.contains(path); });
    out.put_value(static_cast<std::uint64_t>(new_.size()));
    for (const std::string& path : new_) put(path, files_.at(path), out);
  } else {
    out.put_value(static_cast<std::uint64_t>(files_.size()));
    for (const auto& [path, known] : files_) put(path, known, out);
  }
  new_.clear();
  has_lost_new_ = false;
}

bool SeenFiles::restore(ByteReader& in) {
  const auto get = [&](std::string_view& path, Known& known) {
    return in.get_text(path) && in.get_value(known.size_bytes) && in.get_value(known.modified_ms);
  };
  std::string_view path;
  Known known;
  std::uint64_t count = 0;
  if (!get(path, known) || !in.get_value(count)) return false;
  horizon_ = {std::string(path), known.size_bytes, known.modified_ms, {}};
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!get(path, known)) return false;
    files_[std::string(path)] = known;
    in.let_go();
  }
  if (horizon_.path.empty()) return true;
  std::erase_if(files_, [&](const auto& each) {
    return !comes_before(horizon_,
                         {each.first, each.second.size_bytes, each.second.modified_ms, {}});
  });
  return true;
}

}  // namespace hummer
