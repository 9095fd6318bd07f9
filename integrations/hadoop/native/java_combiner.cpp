#include "java_combiner.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record_batch.hpp"

namespace hummer::hadoop {
namespace {

using batch::RecordStream;
using batch::RecordView;

constexpr std::size_t enough_bytes = std::size_t{256} << 10;
constexpr std::size_t most_bytes = std::size_t{4} << 20;

class CombinedByJava final : public RecordStream {
 public:
  CombinedByJava(JavaObject& combiner, batch::KeyOrder order, RecordStream& stream)
      : combiner_(combiner), order_(order), stream_(stream) {}

  Result<std::span<const RecordView>> next() override {
    views_.clear();
    // A combiner may leave nothing of a chunk, and that is not the end.
    while (views_.empty() && !has_ended_) {
      HUMMER_TRY(fill_chunk());
      if (chunk_.empty()) break;
      auto combined = combiner_.exchange_bytes(chunk_);
      if (!combined.ok()) return combined.status();
      HUMMER_TRY(for_each_record(
          *combined, [this](std::uint32_t, std::string_view key, std::string_view value) {
            views_.push_back({key.data(), value.data(), static_cast<std::uint32_t>(key.size()),
                              static_cast<std::uint32_t>(value.size())});
            return Status();
          }));
    }
    return std::span<const RecordView>(views_);
  }

 private:
  Status fill_chunk() {
    chunk_.clear();
    for (;;) {
      for (; !rest_.empty(); rest_ = rest_.subspan(1)) {
        if (is_full(rest_.front().key())) return Status();
        add(rest_.front());
      }
      auto more = stream_.next();
      if (!more.ok()) return more.status();
      rest_ = *more;
      if (rest_.empty()) {
        has_ended_ = true;
        return Status();
      }
    }
  }

  bool is_full(std::string_view next_key) const {
    if (chunk_.size() < enough_bytes) return false;
    const std::string_view last_key(chunk_.data() + last_key_at_, last_key_bytes_);
    return chunk_.size() >= most_bytes || order_.compare(last_key, next_key) != 0;
  }

  void add(const RecordView& record) {
    append_head(chunk_, {0, record.key_bytes, record.value_bytes});
    last_key_at_ = chunk_.size();
    last_key_bytes_ = record.key_bytes;
    chunk_.append(record.key()).append(record.value());
  }

  JavaObject& combiner_;
  const batch::KeyOrder order_;
  RecordStream& stream_;
  std::span<const RecordView> rest_;
  std::string chunk_;
  std::size_t last_key_at_ = 0;
  std::size_t last_key_bytes_ = 0;
  std::vector<RecordView> views_;
  bool has_ended_ = false;
};

}  // namespace

JavaCombiner::JavaCombiner(JNIEnv* java, jobject combiner, batch::KeyOrder order)
    : combiner_(java, combiner, "combine", "(Ljava/nio/ByteBuffer;)Ljava/nio/ByteBuffer;"),
      order_(order) {}

std::unique_ptr<RecordStream> JavaCombiner::combine(RecordStream& stream) {
  return std::make_unique<CombinedByJava>(combiner_, order_, stream);
}

}  // namespace hummer::hadoop
