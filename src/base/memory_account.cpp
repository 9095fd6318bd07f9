#include <fmt/format.h>
#include <hummer/detail/memory_account.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace hummer {
namespace {

// An eighth of what there is stays free: for what an operator needs while it moves state to disk,
// and for what nobody counts.
constexpr std::size_t of_eighths = 7;
// Where the others leave nothing, so that the job goes on.
constexpr std::size_t least_share_bytes = 64 << 10;

std::string readable(std::size_t bytes) {
  if (bytes < (std::size_t{10} << 10)) return fmt::format("{} bytes", bytes);
  if (bytes < (std::size_t{10} << 20)) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} MiB", bytes >> 20);
}

}  // namespace

struct MemoryAccount::Children {
  std::mutex mutex;
  std::vector<std::weak_ptr<MemoryAccount>> all;
};

MemoryAccount::MemoryAccount(std::string name, std::size_t limit_bytes,
                             std::shared_ptr<MemoryAccount> parent)
    : name_(std::move(name)),
      limit_bytes_(limit_bytes),
      parent_(std::move(parent)),
      root_(parent_ ? parent_->root_ : this),
      children_(std::make_unique<Children>()) {}

MemoryAccount::~MemoryAccount() {
  (void)set_own(0);
  if (elastic_.load(std::memory_order_relaxed)) {
    root_->elastic_nodes_.fetch_sub(1, std::memory_order_relaxed);
  }
}

std::shared_ptr<MemoryAccount> MemoryAccount::make_root(std::string name, std::size_t limit_bytes,
                                                        std::string limit_from) {
  std::shared_ptr<MemoryAccount> root(new MemoryAccount(std::move(name), limit_bytes, nullptr));
  root->limit_from_ = std::move(limit_from);
  return root;
}

std::shared_ptr<MemoryAccount> MemoryAccount::make_child(std::string name) {
  std::shared_ptr<MemoryAccount> child(new MemoryAccount(std::move(name), 0, shared_from_this()));
  const std::lock_guard lock(children_->mutex);
  std::erase_if(children_->all, [](const auto& other) { return other.expired(); });
  children_->all.push_back(child);
  return child;
}

void MemoryAccount::set_elastic() {
  if (elastic_.exchange(true, std::memory_order_relaxed)) return;
  root_->elastic_nodes_.fetch_add(1, std::memory_order_relaxed);
  root_->elastic_bytes_.fetch_add(own_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

std::size_t MemoryAccount::share_bytes() const {
  if (!limited()) return SIZE_MAX;
  const std::size_t left = limit_bytes() - std::min(limit_bytes(), rigid_bytes());
  const std::size_t nodes =
      std::max<std::size_t>(1, root_->elastic_nodes_.load(std::memory_order_relaxed));
  return std::max(left / 8 * of_eighths, std::min(least_share_bytes, limit_bytes() / 16)) / nodes;
}

Status MemoryAccount::set_own(std::size_t bytes) {
  const std::size_t before = own_.exchange(bytes, std::memory_order_relaxed);
  const std::size_t change = bytes - before;  // modulo 2^64, as the sums are
  for (MemoryAccount* node = this; node != nullptr; node = node->parent_.get()) {
    node->used_.fetch_add(change, std::memory_order_relaxed);
  }
  if (elastic_.load(std::memory_order_relaxed)) {
    root_->elastic_bytes_.fetch_add(change, std::memory_order_relaxed);
    return {};
  }
  const std::size_t limit = limit_bytes();
  if (limit == 0 || bytes <= before || rigid_bytes() <= limit) return {};
  const std::string& from = root_->limit_from_;
  return {ErrorCode::limit_exceeded,
          fmt::format(
              "'{}' holds {}, which it cannot put on disk; with it {} holds {} of that kind, "
              "and {}: raise it, or spread the job over more workers",
              name_, readable(bytes), root_->name(), readable(rigid_bytes()),
              from.empty() ? fmt::format("--memory-limit is {}", readable(limit))
                           : fmt::format("the memory limit is {} ({}), which --memory-limit sets",
                                         readable(limit), from))};
}

void MemoryAccount::change_disk(std::size_t from, std::size_t to) {
  for (MemoryAccount* node = this; node != nullptr; node = node->parent_.get()) {
    node->disk_.fetch_add(to - from, std::memory_order_relaxed);
  }
}

std::size_t MemoryAccount::rigid_bytes() const {
  const std::size_t used = root_->used_bytes();
  return used - std::min(used, root_->elastic_bytes_.load(std::memory_order_relaxed));
}

std::vector<MemoryAccount::Metric> MemoryAccount::metrics() const {
  std::vector<Metric> metrics;
  collect(0, metrics);
  return metrics;
}

void MemoryAccount::collect(int depth, std::vector<Metric>& metrics) const {
  metrics.push_back({name_, depth, used_bytes(), disk_bytes()});
  // Held until the lock is gone: the last owner of a child may be here.
  std::vector<std::shared_ptr<MemoryAccount>> alive;
  {
    const std::lock_guard lock(children_->mutex);
    for (const auto& child : children_->all) {
      if (auto held = child.lock()) alive.push_back(std::move(held));
    }
  }
  for (const auto& child : alive) child->collect(depth + 1, metrics);
}

void MemoryUse::open(MemoryAccount* account, bool elastic) {
  if (account != nullptr && elastic) account->set_elastic();
  account_ = account;
}

void MemoryUse::open_part(MemoryAccount* account, std::string_view what) {
  if (account == nullptr) return;
  part_ = account->make_child(account->name() + ": " + std::string(what));
  account_ = part_.get();
}

}  // namespace hummer
