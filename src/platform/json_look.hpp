// JsonLookPlugin: how commands look at JSON lines: `hummer infer`, `hummer tail --format json`.
//
// simdjson, which reads them, is there as a shared library alone. So it is in a library of ours,
// libhummer_json.so with the symbol `hummer_json_look` (plugins.hpp): the program starts where
// there is no simdjson, and loads it only for these. The library is compiled with this header and
// public ones.
//
// Errors: those of formats::infer_json. Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

struct JsonLookPlugin {
  static constexpr const char* symbol = "hummer_json_look";
  static constexpr std::uint32_t newest_version = 1;  // of this header
  std::uint32_t version = newest_version;
  const char* abi = nullptr;  // HUMMER_ABI, of the public headers
  // See formats::infer_json.
  Result<std::string> (*infer)(std::string_view text, bool whole, std::string_view record,
                               std::string_view path) = nullptr;
  // Empty where the line is an object; else why not.
  std::string (*why_no_object)(std::string_view line) = nullptr;
};

}  // namespace hummer
