// GzipDecompressor: gzip members one behind the other, whichever library inflates them; made by
// make_decompressor (decompress.hpp).
//
//   make_gzip_decompressor(name)        // ISA-L where it was built with its header and the machine
//                                       // has the library, else zlib
//   make_zlib_decompressor(name), make_isal_decompressor(name)     // for tests; null: not here
//
// Both say the same of damaged data but for the words in brackets, which are the library's. ISA-L
// is two to three times as fast.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "connectors/file/decompress.hpp"

namespace hummer {

// What all forms share: the name and offset for messages, and failures that stay.
class NamedDecompressor : public Decompressor {
 public:
  explicit NamedDecompressor(std::string name) : name_(std::move(name)) {}

 protected:
  Status fail(ErrorCode code, const std::string& what);

  std::string name_;
  std::uint64_t offset_ = 0;  // compressed bytes consumed
  Status failure_;
};

class GzipDecompressor : public NamedDecompressor {
 public:
  using NamedDecompressor::NamedDecompressor;
  Result<Step> run(std::span<const char> input, std::span<char> output) final;
  Status finish() final;

 protected:
  enum class Inflated { some, whole_member, no_memory, damaged };
  // Of the member at hand, into what of `output` is left; `reason`: of damage.
  virtual Inflated inflate_some(std::span<const char> input, std::span<char> output, Step& step,
                                std::string& reason) = 0;

 private:
  bool has_reserved_flags(std::span<const char> input) const;

  bool in_member_ = false;
  std::uint64_t member_bytes_ = 0;  // consumed of the member at hand
  std::uint64_t members_ = 0;
};

std::unique_ptr<Decompressor> make_gzip_decompressor(std::string name);
std::unique_ptr<Decompressor> make_zlib_decompressor(std::string name);
std::unique_ptr<Decompressor> make_isal_decompressor(std::string name);

}  // namespace hummer
