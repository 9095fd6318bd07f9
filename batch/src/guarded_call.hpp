// call_guarded: a call into what an author has written, with exceptions as a Status.
//
//   HUMMER_TRY(call_guarded("the mapper", [&] { return mapper.map(records, output); }));
//
// A failure becomes "the mapper: …", with its own code; an exception user_function_failed, "the
// mapper threw: …".
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer::batch {

template <typename Call>
Status call_guarded(std::string_view who, Call&& call) {
  std::string thrown;
  try {
    const Status status = call();
    return status.ok() ? Status() : status.with_context(who);
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "something that is no std::exception";
  }
  return Status(ErrorCode::user_function_failed, std::string(who) + " threw: " + thrown);
}

}  // namespace hummer::batch
