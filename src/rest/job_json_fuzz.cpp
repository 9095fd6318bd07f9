// JSON that a client reads: whatever comes is read or refused, and what is read as a job is written
// and read again to the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rest/job_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const hummer::Result<hummer::JsonDocument> document = hummer::JsonDocument::parse(text);
  if (!document.ok()) return 0;
  const auto written = [](const hummer::JsonDocument& from) {
    hummer::wire::JobStatus job;
    hummer::read_job(from.root(), job);
    hummer::JsonWriter json;
    json.begin_object();
    hummer::write_job(json, job, 0);
    json.end_object();
    return std::move(json).finish();
  };
  const std::string once = written(*document);
  const hummer::Result<hummer::JsonDocument> again = hummer::JsonDocument::parse(once);
  if (!again.ok() || written(*again) != once) __builtin_trap();
  return 0;
}
