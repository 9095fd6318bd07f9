// fmt as a static library: its functions that are not inline, and the templates that its headers
// declare as instantiated elsewhere.
#include <fmt/format-inl.h>

namespace fmt {

template auto detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto detail::decimal_point_impl<char>(locale_ref) -> char;
template auto detail::dragonbox::to_decimal<float>(float) -> dragonbox::decimal_fp<float>;
template auto detail::dragonbox::to_decimal<double>(double) -> dragonbox::decimal_fp<double>;

}  // namespace fmt
