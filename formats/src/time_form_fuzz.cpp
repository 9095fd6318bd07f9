// Any bytes as a time, in the forms of logs and interfaces and in one that the bytes say
// themselves: what was read is written so that it is read as the same. The first byte says which
// form; up to the next 0 they are the form.
#include "time_form.hpp"

namespace {

using namespace hummer::formats;
using hummer::Result;

// Of years with four digits, which is what is read.
bool has_four_digits(std::int64_t milliseconds) {
  return milliseconds >= -62'135'596'800'000 && milliseconds < 253'402'300'800'000;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const TimeField forms[] = {{"time", "rfc3339"},
                                    {"time", "%d/%b/%Y:%H:%M:%S %z"},
                                    {"time", "%d.%m.%Y %H:%M:%S%f", 0, 90},
                                    {"time", "%b %e %Y"}};
  const TimeForm form = *TimeForm::of(forms[data[0] % std::size(forms)]);
  std::int64_t milliseconds = 0;
  if (form.parse(bytes, milliseconds) && has_four_digits(milliseconds)) {
    std::string written;
    form.append(milliseconds, written);
    std::int64_t again = 0;
    if (!form.parse(written, again) || again != milliseconds) __builtin_trap();
  }
  const Result<TimeForm> logs = TimeForm::of({"time", "rfc3164", 2024, -90});
  (void)logs->parse(bytes, milliseconds);
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const Result<TimeForm> own = TimeForm::of({"time", std::string(bytes.substr(0, end)), data[0]});
  if (!own.ok() || !own->parse(bytes.substr(std::min(end + 1, bytes.size())), milliseconds)) {
    return 0;
  }
  std::string written;
  own->append(milliseconds, written);
  return 0;
}
