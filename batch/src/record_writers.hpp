// The writers of hummer/batch/record_writer.hpp.
//
// Thread: each one.
#pragma once

#include <string>

#include <hummer/batch/record_writer.hpp>

namespace hummer::batch {

// Gathers bytes until a write is worth it.
class BufferedWriter : public RecordWriter {
 public:
  Status open(ByteOutput& output) final;
  Status close() final;

 protected:
  Status write_when_full();
  std::string buffer_;

 private:
  ByteOutput* output_ = nullptr;
};

class TextWriter final : public BufferedWriter {
 public:
  Status write(std::span<const RecordView> records) override;
};

class RawWriter final : public BufferedWriter {
 public:
  Status write(std::span<const RecordView> records) override;
};

class NoWriter final : public RecordWriter {
 public:
  Status open(ByteOutput&) override { return Status(); }
  Status write(std::span<const RecordView>) override { return Status(); }
  Status close() override { return Status(); }
};

}  // namespace hummer::batch
