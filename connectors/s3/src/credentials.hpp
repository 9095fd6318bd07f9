// Who signs requests: the credentials of the settings, or those that a file has, read again when
// they are old.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include <hummer/s3/settings.hpp>
#include <hummer/status.hpp>

#include "signature.hpp"

namespace hummer::s3 {

// What a file such as ~/.aws/credentials has below [profile], or [profile NAME]; keys in lower
// case. Lines that are neither a section, a comment nor KEY = VALUE are passed over, as the tools
// of AWS do.
std::map<std::string, std::string> profile_values(std::string_view file, std::string_view profile);

class CredentialSource {
 public:
  explicit CredentialSource(const Settings& settings) : settings_(settings) {}

  // Read anew where they come from a file and are older than a minute, or `renew`.
  Result<Credentials> get(std::int64_t now_ms, bool renew = false);

 private:
  const Settings settings_;
  std::mutex mutex_;
  Credentials known_;
  std::int64_t read_ms_ = -1;  // none so far
};

}  // namespace hummer::s3
