#include "cli/record_tail.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace hummer {
namespace {

constexpr std::uint64_t unit_bytes = 1 << 20;
constexpr std::uint64_t units = 1 << 14;

// Units of a megabyte, which begin with how many records they have: 3, 0, 3, 0, …
class GreatFile final : public ReadableFile {
 public:
  const std::string& path() const override { return path_; }
  std::uint64_t size_bytes() const override { return 1 + units * unit_bytes; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    const std::uint64_t left = size_bytes() - std::min(offset, size_bytes());
    into = into.first(std::min<std::uint64_t>(into.size(), left));
    for (std::uint64_t i = 0; i < into.size(); ++i) {
      const std::uint64_t at = offset + i;
      into[i] = at == 0                      ? 'h'
                : (at - 1) % unit_bytes == 0 ? char((at - 1) / unit_bytes % 2 * 3)
                                             : 'x';
    }
    bytes_read += into.size();
    return into.size();
  }
  Result<std::unique_ptr<Mapping>> map(std::uint64_t, std::size_t) override {
    return Status(ErrorCode::limit_exceeded, "not here");
  }
  void advise_sequential() override {}

  std::uint64_t bytes_read = 0;

 private:
  const std::string path_ = "great";
};

class UnitReader final : public RecordReader {
 public:
  std::string_view unit_name() const override { return "unit"; }
  Result<std::size_t> begin(std::string_view text) override {
    return text.empty() ? unknown : std::size_t{1};
  }
  Result<Unit> unit(std::string_view text) const override {
    if (text.empty()) return Unit();
    if (text[0] == wrong) return Status(ErrorCode::corrupt_file, "no unit");
    return Unit{unit_bytes, static_cast<std::uint64_t>(text[0])};
  }
  Status records(std::string_view, const Listener&) override { return {}; }

  char wrong = 'w';
};

TEST(FindLastRecords, MostOfAGreatFileIsPassedOver) {
  UnitReader reader;
  const auto begin_of = [&](std::uint64_t most, std::uint64_t size) {
    GreatFile file;
    const auto last = find_last_records(file, size, reader, most, 256);
    EXPECT_TRUE(last.ok()) << last.status().to_string();
    EXPECT_EQ(last->head_bytes, 1u);
    EXPECT_LE(file.bytes_read, (units + 1) * 256);
    return (last->begin - 1) / unit_bytes;
  };
  const std::uint64_t whole = 1 + units * unit_bytes;
  EXPECT_EQ(begin_of(1, whole), units - 1);
  EXPECT_EQ(begin_of(3, whole), units - 1);
  EXPECT_EQ(begin_of(4, whole), units - 3);
  EXPECT_EQ(begin_of(6, whole), units - 3);
  EXPECT_EQ(begin_of(UINT64_MAX, whole), 1u) << "the first unit has none";
  EXPECT_EQ(begin_of(1, whole - 1), units - 3) << "the last unit is not whole";
  EXPECT_EQ(begin_of(1, 1), 0u);
  reader.wrong = 3;
  EXPECT_EQ(begin_of(1, whole), 0u) << "what makes no sense ends it";
}

}  // namespace
}  // namespace hummer
