#include <hummer/detail/watermark_generators.hpp>

#include <mutex>
#include <vector>

namespace hummer {

struct WatermarkAlignment::Shared {
  std::mutex mutex;
  std::vector<Timestamp> times;
};

WatermarkAlignment::WatermarkAlignment() : shared_(std::make_shared<Shared>()) {}

WatermarkAlignment::Member WatermarkAlignment::join() {
  const std::lock_guard lock(shared_->mutex);
  shared_->times.push_back(no_timestamp);
  return shared_->times.size() - 1;
}
void WatermarkAlignment::set(Member member, Timestamp watermark) {
  const std::lock_guard lock(shared_->mutex);
  shared_->times[member] = watermark;
}
Timestamp WatermarkAlignment::lowest() const {
  const std::lock_guard lock(shared_->mutex);
  return *std::min_element(shared_->times.begin(), shared_->times.end());
}

}  // namespace hummer
