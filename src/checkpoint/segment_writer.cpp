#include "checkpoint/segment_writer.hpp"

#include <algorithm>
#include <utility>

#include "platform/object_files.hpp"

namespace hummer {
namespace {

constexpr std::size_t upload_part_bytes = 16 << 20;

}  // namespace

class SegmentWriter::Part {
 public:
  explicit Part(SegmentWriter& of) : of_(of) {}
  ~Part() { of_.in_memory_ -= bytes.size(); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  std::string bytes;                     // in memory
  std::uint64_t size = 0;                // all of it
  std::string own_name;                  // of the object that it is by itself; empty: none
  std::unique_ptr<ObjectUpload> upload;  // to that

 private:
  SegmentWriter& of_;
};

class PartFile final : public WritableFile {
 public:
  PartFile(SegmentWriter& writer, SegmentWriter::PartHandle part, std::string path)
      : writer_(writer), part_(std::move(part)), path_(std::move(path)) {}

  const std::string& path() const override { return path_; }
  Status append(std::string_view bytes) override { return writer_.append(*part_, bytes); }
  std::uint64_t size_bytes() const override { return part_->size; }
  // It is durable with its segment.
  Status sync() override { return {}; }
  Status close() override { return {}; }

 private:
  SegmentWriter& writer_;
  const SegmentWriter::PartHandle part_;
  const std::string path_;
};

SegmentWriter::SegmentWriter(ObjectStore& store, std::string directory, std::string name,
                             std::size_t most_bytes)
    : store_(store),
      directory_(std::move(directory)),
      name_(std::move(name)),
      most_bytes_(most_bytes) {}
SegmentWriter::~SegmentWriter() = default;

std::string SegmentWriter::next_name() {
  const int number = segments_++;
  return name_ + (number == 0 ? "" : "-" + std::to_string(number)) + ".segment";
}

SegmentWriter::PartHandle SegmentWriter::begin() {
  std::erase_if(parts_, [](const std::weak_ptr<Part>& part) { return part.expired(); });
  PartHandle part = std::make_shared<Part>(*this);
  parts_.push_back(part);
  return part;
}

std::unique_ptr<WritableFile> SegmentWriter::open(const PartHandle& part) {
  return std::make_unique<PartFile>(*this, part, directory_ + "/" + name_ + ".segment");
}

Status SegmentWriter::append(Part& part, std::string_view bytes) {
  part.bytes.append(bytes);
  part.size += bytes.size();
  in_memory_ += bytes.size();
  if (part.upload != nullptr && part.bytes.size() >= upload_part_bytes) {
    HUMMER_TRY(part.upload->add_part(part.bytes));
    in_memory_ -= part.bytes.size();
    part.bytes.clear();
  }
  return in_memory_ < most_bytes_ ? Status() : make_room(part);
}

Status SegmentWriter::make_room(Part& wants) {
  if (segment_.size() >= most_bytes_ / 2) return flush();
  Part* largest = &wants;
  for (const std::weak_ptr<Part>& each : parts_) {
    const PartHandle part = each.lock();
    if (part != nullptr && part->bytes.size() > largest->bytes.size()) largest = part.get();
  }
  // Parts of an upload must not be small; many files of less are few bytes each.
  if (largest->bytes.size() < std::min(upload_part_bytes, most_bytes_ / 4)) return flush();
  if (largest->upload == nullptr) {
    largest->own_name = next_name();
    auto upload = store_.begin_upload(directory_ + "/" + largest->own_name);
    if (!upload.ok()) return upload.status();
    largest->upload = std::move(*upload);
  }
  HUMMER_TRY(largest->upload->add_part(largest->bytes));
  in_memory_ -= largest->bytes.size();
  largest->bytes = {};
  return {};
}

Result<std::string> SegmentWriter::end(Part& part) {
  if (part.upload != nullptr) {
    if (!part.bytes.empty()) HUMMER_TRY(part.upload->add_part(part.bytes));
    HUMMER_TRY(part.upload->complete());
    return ObjectStretch{part.own_name, 0, part.size}.text();
  }
  if (segment_name_.empty()) segment_name_ = next_name();
  ObjectStretch stretch{segment_name_, segment_.size(), part.size};
  segment_ += part.bytes;  // counts there what it counted here
  part.bytes = {};
  return stretch.text();
}

Status SegmentWriter::flush() {
  if (segment_name_.empty()) return {};
  HUMMER_TRY(store_.put(directory_ + "/" + segment_name_, segment_, false));
  in_memory_ -= segment_.size();
  segment_ = {};
  segment_name_.clear();
  return {};
}

}  // namespace hummer
