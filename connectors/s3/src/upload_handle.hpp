// What a sink keeps of an upload in its checkpoints: bytes from which any process can complete it.
//
// Pure; thread: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hummer/s3/client.hpp>

namespace hummer::s3 {

struct UploadHandle {
  Upload upload;
  std::vector<Part> parts;
};

std::string encode(const UploadHandle& handle);
// corrupt_record.
Result<UploadHandle> decode_handle(std::string_view bytes);

}  // namespace hummer::s3
