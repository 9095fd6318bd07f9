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
  CombinedByJava(JavaCombiner& combiner, RecordStream& stream)
      : combiner_(combiner), stream_(stream) {}

  Result<std::span<const RecordView>> next() override {
    views_.clear();
    // A combiner may leave nothing of a chunk, and that is not the end.
    while (views_.empty() && !has_ended_) {
      HUMMER_TRY(fill_chunk());
      if (chunk_.empty()) break;
      auto combined = combiner_.call(chunk_);
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
    return chunk_.size() >= most_bytes || combiner_.order().compare(last_key, next_key) != 0;
  }

  void add(const RecordView& record) {
    const RecordHead head{0, record.key_bytes, record.value_bytes};
    chunk_.append(reinterpret_cast<const char*>(&head), sizeof head);
    last_key_at_ = chunk_.size();
    last_key_bytes_ = record.key_bytes;
    chunk_.append(record.key()).append(record.value());
  }

  JavaCombiner& combiner_;
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
    : java_(java), combiner_(java->NewGlobalRef(combiner)), order_(order) {
  jclass type = java->GetObjectClass(combiner);
  method_ = java->GetMethodID(type, "combine", "(Ljava/nio/ByteBuffer;)Ljava/nio/ByteBuffer;");
  java->DeleteLocalRef(type);
}

JavaCombiner::~JavaCombiner() { java_->DeleteGlobalRef(combiner_); }

std::unique_ptr<RecordStream> JavaCombiner::combine(RecordStream& stream) {
  return std::make_unique<CombinedByJava>(*this, stream);
}

Result<std::string_view> JavaCombiner::call(std::string_view chunk) {
  const Status failed(ErrorCode::user_function_failed, "the job's combiner failed");
  // Without the method an exception is pending since the constructor.
  if (method_ == nullptr) return failed;
  jobject records =
      java_->NewDirectByteBuffer(const_cast<char*>(chunk.data()), static_cast<jlong>(chunk.size()));
  if (records == nullptr) return failed;
  jobject combined = java_->CallObjectMethod(combiner_, method_, records);
  java_->DeleteLocalRef(records);
  if (java_->ExceptionCheck() != JNI_FALSE) return failed;
  const auto* const bytes = static_cast<const char*>(java_->GetDirectBufferAddress(combined));
  const jlong size = java_->GetDirectBufferCapacity(combined);
  // Its bytes are held by the object in Java.
  java_->DeleteLocalRef(combined);
  return std::string_view(bytes, static_cast<std::size_t>(size));
}

}  // namespace hummer::hadoop
