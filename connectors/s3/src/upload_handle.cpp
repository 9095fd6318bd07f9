#include "upload_handle.hpp"

#include <cstdint>

#include <hummer/bytes.hpp>

namespace hummer::s3 {
namespace {

constexpr std::uint8_t handle_version = 1;
constexpr std::uint32_t most_parts = 10'000;

}  // namespace

std::string encode(const UploadHandle& handle) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put_value(handle_version);
  const Upload& upload = handle.upload;
  for (const std::string* text :
       {&upload.place.bucket, &upload.place.key, &upload.id, &upload.token}) {
    out.put_text(*text);
  }
  out.put_value(static_cast<std::uint32_t>(handle.parts.size()));
  for (const Part& part : handle.parts) out.put_text(part.etag);
  bytes.resize(out.size());
  return bytes;
}

Result<UploadHandle> decode_handle(std::string_view bytes) {
  const auto wrong = [] { return Status(ErrorCode::corrupt_record, "this is no upload's handle"); };
  ByteReader in(bytes);
  std::uint8_t version = 0;
  UploadHandle handle;
  Upload& upload = handle.upload;
  if (!in.get_value(version) || version != handle_version) return wrong();
  for (std::string* text : {&upload.place.bucket, &upload.place.key, &upload.id, &upload.token}) {
    std::string_view read;
    if (!in.get_text(read)) return wrong();
    *text = read;
  }
  std::uint32_t parts = 0;
  if (!in.get_value(parts) || parts > most_parts) return wrong();
  for (std::uint32_t i = 0; i < parts; ++i) {
    std::string_view etag;
    if (!in.get_text(etag)) return wrong();
    handle.parts.push_back({static_cast<int>(i) + 1, std::string(etag), 0});
  }
  if (in.left() != 0 || upload.place.bucket.empty() || upload.id.empty()) return wrong();
  return handle;
}

}  // namespace hummer::s3
