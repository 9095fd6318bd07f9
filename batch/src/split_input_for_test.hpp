// A split of a text in memory. (Tests only.)
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <hummer/batch/record_reader.hpp>

namespace hummer::batch {

class TextSplitForTest final : public SplitInput {
 public:
  TextSplitForTest(const std::string& text, std::uint64_t begin, std::uint64_t end)
      : text_(text), begin_(begin), end_(end) {}

  const std::string& path() const override { return path_; }
  std::uint64_t begin() const override { return begin_; }
  std::uint64_t end() const override { return end_; }
  std::uint64_t bytes_read() const override { return bytes_read_; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    const std::string_view rest = std::string_view(text_).substr(
        std::min<std::size_t>(static_cast<std::size_t>(offset), text_.size()));
    const std::size_t count = std::min(rest.size(), into.size());
    std::memcpy(into.data(), rest.data(), count);
    bytes_read_ += count;
    return count;
  }

 private:
  const std::string path_ = "text";
  const std::string text_;
  const std::uint64_t begin_;
  const std::uint64_t end_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace hummer::batch
