// TeraSort's records, by the names of these programs.
#pragma once

#include "batch/tera_row_layout.hpp"

namespace terasort {

inline constexpr std::size_t record_bytes = hummer::batch::tera_record_bytes;
inline constexpr std::size_t key_bytes = hummer::batch::tera_key_bytes;
using RowGenerator = hummer::batch::TeraRows;

}  // namespace terasort
