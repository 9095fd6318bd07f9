#include "control/client/drain.hpp"

#include <fmt/format.h>

namespace hummer {

std::string Drain::begin() {
  begun_ = true;
  return fmt::format(
      "hummer: {}: its sources end (signal {}), what was read is finished; a second signal ends it "
      "at once",
      job_name_, signals_->received());
}

std::string Drain::end(const JobResult& result) const {
  if (!begun_ || !result.ok()) return {};
  return fmt::format("hummer: {} was ended early: {} records read", job_name_, result.records_read);
}

}  // namespace hummer
