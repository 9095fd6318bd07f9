// identity: the record is its own key, as in `key_by(identity)`.
//
// A type of its own, so that operators can tell that keys are the records
// themselves and hand the column to the table as it is.
#pragma once

namespace hummer {

struct Identity {
  template <typename T>
  const T& operator()(const T& record) const {
    return record;
  }
};
inline constexpr Identity identity{};

}  // namespace hummer
