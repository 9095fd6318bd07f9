#include <algorithm>
#include <iterator>
#include <utility>

#include "platform/simulated_files.hpp"

namespace hummer {
namespace {

constexpr std::size_t sector_bytes = 512;

}  // namespace

SimulatedDisk::SimulatedDisk(Simulation& simulation) : simulation_(simulation) {
  names_["/"] = {};
  durable_names_["/"] = {};
}

const SimulatedEntry* SimulatedDisk::find(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : &found->second;
}

void SimulatedDisk::apply(Names& names, const Change& change) {
  switch (change.kind) {
    case Change::Kind::put: names[change.path] = change.entry; break;
    case Change::Kind::remove: names.erase(change.path); break;
    case Change::Kind::rename: {
      Names moved;
      const auto move = [&](Names::iterator at) {
        moved[change.to + at->first.substr(change.path.size())] = std::move(at->second);
        return names.erase(at);
      };
      if (const auto itself = names.find(change.path); itself != names.end()) move(itself);
      const std::string below = change.path + "/";
      auto at = names.lower_bound(below);
      while (at != names.end() && at->first.starts_with(below)) at = move(at);
      for (auto& [path, entry] : moved) names[path] = std::move(entry);
      break;
    }
  }
}

void SimulatedDisk::put(const std::string& path, SimulatedEntry entry) {
  make({Change::Kind::put, path, {}, std::move(entry)});
}

void SimulatedDisk::remove(const std::string& path) { make({Change::Kind::remove, path, {}, {}}); }

void SimulatedDisk::rename(const std::string& from, const std::string& to) {
  make({Change::Kind::rename, from, to, names_.at(from)});
}

bool SimulatedDisk::is_far(const Change& change) {
  return change.kind == Change::Kind::rename &&
         (parent_of(change.path) != parent_of(change.to) || change.entry.file == nullptr);
}

void SimulatedDisk::make(Change change) {
  apply(names_, change);
  far_changes_ += is_far(change) ? 1 : 0;
  changes_within_[parent_of(change.path)].push_back(changes_made_);
  changes_.emplace(changes_made_++, std::move(change));
}

void SimulatedDisk::sync_names(const std::string& directory) {
  if (far_changes_ > 0) {
    for (const auto& [number, change] : changes_) apply(durable_names_, change);
    forget_changes();
    return;
  }
  const auto within = changes_within_.extract(directory);
  if (within.empty()) return;
  for (const std::uint64_t number : within.mapped()) {
    const auto change = changes_.find(number);
    apply(durable_names_, change->second);
    changes_.erase(change);
  }
}

void SimulatedDisk::forget_changes() {
  changes_.clear();
  changes_within_.clear();
  far_changes_ = 0;
}

std::uint64_t SimulatedDisk::used_bytes() const {
  std::uint64_t used = 0;
  for (const auto& [path, entry] : names_) {
    if (entry.file != nullptr) used += entry.file->content.size();
  }
  return used;
}

void SimulatedDisk::crash() {
  simulation_.trace("disk crash");
  const std::uint64_t kept = simulation_.random().below(changes_.size() + 1);
  auto change = changes_.begin();
  for (std::uint64_t i = 0; i < kept; ++i) apply(durable_names_, (change++)->second);
  forget_changes();
  // Parents come before what is in them.
  for (auto at = std::next(durable_names_.begin()); at != durable_names_.end();) {
    const auto parent = durable_names_.find(parent_of(at->first));
    const bool has_parent = parent != durable_names_.end() && parent->second.file == nullptr;
    at = has_parent ? std::next(at) : durable_names_.erase(at);
  }
  for (const auto& [path, entry] : durable_names_) {
    if (entry.file != nullptr) tear(*entry.file);
  }
  names_ = durable_names_;
}

void SimulatedDisk::tear_updated(SimulatedFileData& file) {
  Random& random = simulation_.random();
  if (file.emptied_since_sync) file.shortest_since_sync = 0;
  if (file.shortest_since_sync < file.durable.size()) {
    if (random.chance(0.5)) {
      file.durable.resize(file.shortest_since_sync);
    } else {
      file.content.replace(std::min(file.shortest_since_sync, file.content.size()),
                           std::string::npos, file.durable, file.shortest_since_sync);
    }
  }
  const std::size_t before = file.durable.size(), after = file.content.size();
  std::size_t length = before + random.below(after > before ? after - before + 1 : 1);
  if (random.chance(0.5)) length = after;
  std::string torn(length, '\0');
  for (std::size_t at = 0; at < length; at += sector_bytes) {
    const std::string& from = random.chance(0.5) ? file.durable : file.content;
    if (at >= from.size()) continue;
    from.copy(torn.data() + at, std::min(sector_bytes, length - at), at);
  }
  file.content = std::move(torn);
  file.durable = file.content;
  file.updated_since_sync = false;
  file.emptied_since_sync = false;
  file.shortest_since_sync = SIZE_MAX;
}

void SimulatedDisk::tear(SimulatedFileData& file) {
  if (file.updated_since_sync) return tear_updated(file);
  Random& random = simulation_.random();
  std::size_t safe = file.durable.size();
  if (file.emptied_since_sync) {
    if (random.chance(0.5)) {
      file.content = file.durable;
      file.emptied_since_sync = false;
      return;
    }
    safe = 0;
  }
  const std::size_t length = safe + random.below(file.content.size() - safe + 1);
  file.content.resize(length);
  for (std::size_t at = safe; at < length;) {
    const std::size_t end = std::min(length, (at / sector_bytes + 1) * sector_bytes);
    if (random.chance(0.5)) std::fill(file.content.begin() + at, file.content.begin() + end, '\0');
    at = end;
  }
  file.durable = file.content;
  file.emptied_since_sync = false;
}

}  // namespace hummer
