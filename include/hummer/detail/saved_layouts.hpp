// SavedLayouts: how another program laid out the types that name their fields (hummer/evolving.hpp,
// `fields`), for whoever reads what it wrote.
//
// Values hold no names: what is in them, and in which order, the names of their types say, which
// stand once in front of a piece of a snapshot. So a restore makes one of these from the piece's
// states and hands it to the reader; the codec of a type asks the reader for its plan, which is
// made at the first value: field by field as it was saved, which of the program's own it is, from
// which number it is widened, or that it is passed over. Bytes that this program wrote itself are
// read without.
//
//   const SavedLayouts layouts(saved, own);
//   if (!layouts.empty()) in.set_layouts(&layouts);      // until the piece is read
//
// Thread: one. Ownership: outlives the readers that have it. Cost of a plan: a look through as
// many pointers as there are such types, per value.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <boost/pfr/core.hpp>

#include <hummer/bytes.hpp>
#include <hummer/evolving.hpp>

namespace hummer {

struct ParsedType;
template <typename T>
struct Codec;

namespace detail {

enum class NumberKind : std::uint8_t { none, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

// How a type of this program reads what was saved.
struct LayoutPlan {
  enum class Read : std::uint8_t { as_own, widened, passed_over };
  struct Step {
    Read read = Read::as_own;
    NumberKind from = NumberKind::none;
    std::uint16_t field = 0;                 // of this program
    const ParsedType* saved_type = nullptr;  // what is passed over
  };
  const void* type = nullptr;
  bool unchanged = true;
  std::vector<Step> steps;  // in the order in which fields were saved
};

struct OwnField {
  std::string_view name;
  std::string type;
};

class SavedLayouts {
 public:
  // REQUIRES: check_states(saved, own) had nothing against it.
  SavedLayouts(const std::vector<StateDescription>& saved,
               const std::vector<StateDescription>& own);
  ~SavedLayouts();
  SavedLayouts(const SavedLayouts&) = delete;
  SavedLayouts& operator=(const SavedLayouts&) = delete;

  // Those of all types in the name of one.
  bool know(std::string_view type) const;
  // All are as this program has them.
  bool empty() const { return layouts_.empty(); }

  // `type`: any address that stands for it. Null: as this program has it.
  template <typename Fields>
  const LayoutPlan* plan(const void* type, std::string_view name, Fields&& fields) const {
    for (const std::unique_ptr<LayoutPlan>& known : plans_) {
      if (known->type == type) return known->unchanged ? nullptr : known.get();
    }
    const std::vector<OwnField> own = fields();
    return make_plan(type, name, own);
  }

 private:
  struct Layout;
  const LayoutPlan* make_plan(const void* type, std::string_view name,
                              std::span<const OwnField> own) const;

  std::vector<std::unique_ptr<Layout>> layouts_;
  mutable std::vector<std::unique_ptr<LayoutPlan>> plans_;
};

// Whether `in` can hand a type's codec what was saved of it.
bool can_read_saved(std::string_view saved, std::string_view own, const ByteReader& in);
[[nodiscard]] bool pass_over_saved(const ParsedType& type, ByteReader& in);

template <typename To, typename From>
[[nodiscard]] bool read_widened(ByteReader& in, To& value) {
  From saved{};
  if (!in.get_value(saved)) return false;
  value = static_cast<To>(saved);
  return true;
}

// check_states lets only numbers through that hold all that was saved.
template <typename To>
[[nodiscard]] bool read_widened(ByteReader& in, NumberKind from, To& value) {
  if constexpr (std::is_arithmetic_v<To> && !std::is_same_v<To, bool>) {
    switch (from) {
      case NumberKind::i8: return read_widened<To, std::int8_t>(in, value);
      case NumberKind::i16: return read_widened<To, std::int16_t>(in, value);
      case NumberKind::i32: return read_widened<To, std::int32_t>(in, value);
      case NumberKind::i64: return read_widened<To, std::int64_t>(in, value);
      case NumberKind::u8: return read_widened<To, std::uint8_t>(in, value);
      case NumberKind::u16: return read_widened<To, std::uint16_t>(in, value);
      case NumberKind::u32: return read_widened<To, std::uint32_t>(in, value);
      case NumberKind::u64: return read_widened<To, std::uint64_t>(in, value);
      case NumberKind::f32: return read_widened<To, float>(in, value);
      case NumberKind::f64: return read_widened<To, double>(in, value);
      case NumberKind::none: break;
    }
  }
  return false;
}

// What such a field is called, also where an enum's codec says not how wide it is.
template <typename Field>
std::string field_type_name() {
  if constexpr (requires { typename Codec<Field>::Enumeration; }) {
    return "enum<" + Codec<std::underlying_type_t<Field>>::name() + "," + Codec<Field>::name() +
           ">";
  } else {
    return Codec<Field>::name();
  }
}

// The codec of a type that names its fields.
template <typename T>
struct NamedFields {
  static constexpr std::size_t count = boost::pfr::tuple_size_v<T>;
  static_assert(T::fields.names.size() == count,
                "`fields` names each field of the type, in their order");
  template <std::size_t i>
  using Field = boost::pfr::tuple_element_t<i, T>;
  using Indexes = std::make_index_sequence<count>;

  static std::vector<OwnField> own() {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return std::vector<OwnField>{{T::fields.names[i], field_type_name<Field<i>>()}...};
    }(Indexes());
  }
  static std::string name() {
    std::string all = std::string(T::evolving) + "#{";
    for (const OwnField& field : own()) {
      if (all.back() != '{') all += ',';
      all.append(field.name).append(":").append(field.type);
    }
    return all + '}';
  }
  [[nodiscard]] static bool decode(ByteReader& in, T& value) {
    value = T{};
    const LayoutPlan* const plan =
        in.layouts() == nullptr ? nullptr : in.layouts()->plan(&tag, T::evolving, own);
    if (plan == nullptr) {
      return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return (Codec<Field<i>>::decode(in, boost::pfr::get<i>(value)) && ...);
      }(Indexes());
    }
    for (const LayoutPlan::Step& step : plan->steps) {
      const bool valid = step.read == LayoutPlan::Read::passed_over
                             ? pass_over_saved(*step.saved_type, in)
                             : decode_field(step, in, value);
      if (!valid) return false;
    }
    return true;
  }

 private:
  static constexpr char tag = 0;

  static bool decode_field(const LayoutPlan::Step& step, ByteReader& in, T& value) {
    bool valid = false;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((step.field == i && (valid = step.read == LayoutPlan::Read::widened
                                        ? read_widened(in, step.from, boost::pfr::get<i>(value))
                                        : Codec<Field<i>>::decode(in, boost::pfr::get<i>(value)),
                            true)) ||
       ...);
    }(Indexes());
    return valid;
  }
};

}  // namespace detail
}  // namespace hummer
