#include "base/number_widening.hpp"

#include <array>
#include <utility>

namespace hummer::detail {
namespace {

struct NumberName {
  std::string_view text;
  NumberKind kind;
};
constexpr std::array number_names = {
    NumberName{"i8", NumberKind::i8},   NumberName{"i16", NumberKind::i16},
    NumberName{"i32", NumberKind::i32}, NumberName{"i64", NumberKind::i64},
    NumberName{"u8", NumberKind::u8},   NumberName{"u16", NumberKind::u16},
    NumberName{"u32", NumberKind::u32}, NumberName{"u64", NumberKind::u64},
    NumberName{"f32", NumberKind::f32}, NumberName{"f64", NumberKind::f64},
};

// 1, 2, 4, 8.
int bytes_of(NumberKind kind) {
  switch (kind) {
    case NumberKind::i8:
    case NumberKind::u8: return 1;
    case NumberKind::i16:
    case NumberKind::u16: return 2;
    case NumberKind::i32:
    case NumberKind::u32:
    case NumberKind::f32: return 4;
    default: return 8;
  }
}

}  // namespace

NumberKind number_kind(std::string_view type) {
  for (const NumberName& number : number_names) {
    if (number.text == type) return number.kind;
  }
  return NumberKind::none;
}

bool is_widening(std::string_view saved, std::string_view own) {
  const NumberKind from = number_kind(saved);
  const NumberKind to = number_kind(own);
  if (from == NumberKind::none || to == NumberKind::none) return false;
  if (bytes_of(from) >= bytes_of(to)) return false;
  return saved[0] == own[0] || (saved[0] == 'u' && own[0] == 'i');
}

std::vector<std::string_view> named_types_in(std::string_view type) {
  std::vector<std::string_view> found;
  for (std::size_t mark = type.find("#{"); mark != type.npos; mark = type.find("#{", mark + 2)) {
    const std::size_t before = type.find_last_of(",:{}<>()", mark);
    const std::size_t begin = before == type.npos ? 0 : before + 1;
    int depth = 0;
    for (std::size_t at = mark + 1; at < type.size(); ++at) {
      depth += type[at] == '{' ? 1 : type[at] == '}' ? -1 : 0;
      if (depth != 0) continue;
      found.push_back(type.substr(begin, at + 1 - begin));
      break;
    }
  }
  return found;
}

std::string_view name_of_named_type(std::string_view type) {
  return type.substr(0, type.find("#{"));
}

}  // namespace hummer::detail
