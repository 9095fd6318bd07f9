// Any bytes as a SequenceFile, entered anywhere: no crash, no read past the input, an end, and
// failures that name the file. What is behind a header that nobody could guess is reached by giving
// some inputs a right one.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "sequence_file_reader.hpp"

namespace {

using namespace hummer;

class FuzzedSplit final : public batch::SplitInput {
 public:
  FuzzedSplit(std::string bytes, std::uint64_t begin, std::uint64_t end)
      : bytes_(std::move(bytes)), begin_(begin), end_(end) {}

  const std::string& path() const override { return path_; }
  std::uint64_t begin() const override { return begin_; }
  std::uint64_t end() const override { return end_; }
  std::uint64_t bytes_read() const override { return 0; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    if (offset >= bytes_.size()) return std::size_t{0};
    return bytes_.copy(into.data(), into.size(), offset);
  }

 private:
  const std::string path_ = "fuzz";
  const std::string bytes_;
  const std::uint64_t begin_;
  const std::uint64_t end_;
};

std::string header_of(unsigned form) {
  const auto text = [](std::string_view of) { return std::string(1, char(of.size())).append(of); };
  constexpr std::string_view codecs[] = {"GzipCodec", "SnappyCodec", "Lz4Codec", "ZStandardCodec"};
  std::string header = std::string("SEQ\x06") + text("org.apache.hadoop.io.Text") +
                       text("org.apache.hadoop.io.BytesWritable");
  header.push_back(form > 0 ? 1 : 0);
  header.push_back(form > 1 ? 1 : 0);
  if (form > 0) {
    header += text(std::string("org.apache.hadoop.io.compress.") + std::string(codecs[form % 4]));
  }
  return header + std::string(4, '\0') + "0123456789abcdef";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const unsigned form = data[0] % 8;
  const std::size_t begin = data[1];
  std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (form < 6) bytes = header_of(form) + bytes;
  const std::size_t all = bytes.size();
  hadoop::SequenceFileReader reader;
  const Status opened =
      reader.open(std::make_unique<FuzzedSplit>(std::move(bytes), std::min(begin, all), all));
  if (!opened.ok()) {
    if (opened.message().find("fuzz") == std::string::npos) std::abort();
    return 0;
  }
  for (std::uint64_t sum = 0;;) {
    const auto span = reader.next();
    if (!span.ok()) {
      if (span.status().message().find("fuzz") == std::string::npos) std::abort();
      return 0;
    }
    if (span->empty()) return 0;
    for (const batch::RecordView& record : *span) {
      for (const char c : record.key()) sum += static_cast<unsigned char>(c);
      for (const char c : record.value()) sum += static_cast<unsigned char>(c);
    }
    if (reader.place_of(span->front()).empty() || sum == ~std::uint64_t{0}) std::abort();
  }
}
