// KeyOrder: how keys compare, and what of a key goes into the prefix by which they are sorted
// first.
//
//   std::optional<KeyOrder> order = key_order_of("org.apache.hadoop.io.Text");
//   order->compare(a, b) < 0;                    // a goes first
//   order->prefix(a) < order->prefix(b);         // then a goes first; equal: compare decides
//
//   name     Hadoop's class      bytes of a key
//   bytes    NullWritable, …     as they are, unsigned; of two that begin alike the shorter first
//   text     Text                a vint, then what compares as bytes
//   counted  BytesWritable       4 bytes of length, then what compares as bytes
//   byte, short, int, long       1, 2, 4, 8 bytes, big-endian, two's complement
//   vint, vlong                  a vint of WritableUtils
//   float, double                4, 8 bytes of IEEE 754, as Java's Float.compare: -0 before 0,
//                                all NaNs equal and last
//   none     –                   any: all count as equal, so that records stay as they came
//
// A key of a fixed length that is shorter counts as if zeros followed; what follows in one that is
// longer does not count. A foreign order (ForeignKeyOrder) comes as two functions, from a class
// library for example.
//
// Loops over many keys ask with visit() once what the keys are, and are compiled for each form;
// prefix() and compare() ask each time.
//
// Thread: values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace hummer::batch {

// first_bytes of fewer than 8.
std::uint64_t first_bytes_of_few(std::string_view bytes);

// The first 8 bytes as a big-endian number, as if zeros followed a shorter text: it orders texts as
// their first 8 bytes do.
inline std::uint64_t first_bytes(std::string_view bytes) {
  if (bytes.size() < 8) return first_bytes_of_few(bytes);
  std::uint64_t word;
  std::memcpy(&word, bytes.data(), sizeof word);
  return __builtin_bswap64(word);
}

inline int compare_bytes(std::string_view a, std::string_view b) {
  const std::size_t common = std::min(a.size(), b.size());
  if (common >= 8) {
    const std::uint64_t first_of_a = first_bytes(a);
    const std::uint64_t first_of_b = first_bytes(b);
    if (first_of_a != first_of_b) return first_of_a < first_of_b ? -1 : 1;
  }
  const int order = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
  if (order != 0) return order < 0 ? -1 : 1;
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

// An order from outside. `prefix` may be null: then compare decides alone. Both are called from
// several threads at once.
struct ForeignKeyOrder {
  std::string_view name;
  // Negative, 0, positive.
  int (*compare)(std::string_view a, std::string_view b) = nullptr;
  // Smaller only where compare says so; equal ones are compared.
  std::uint64_t (*prefix)(std::string_view key) = nullptr;
};

// What a form of keys has: long_prefix() and compare(); `decided_by`: so many bytes of the prefix
// decide alone (0: none does); and content(), the bytes that compare, where has_content.
namespace key_form {

struct ByContent {
  static constexpr bool has_content = true;
  static constexpr unsigned decided_by = 0;
};

struct Bytes : ByContent {
  static std::string_view content(std::string_view key) { return key; }
  static std::uint64_t long_prefix(std::string_view key) { return first_bytes(key); }
  static int compare(std::string_view a, std::string_view b) { return compare_bytes(a, b); }
};

// Bytes of a vint of WritableUtils, by its first one.
inline std::size_t bytes_of_vint(char first) {
  const int value = static_cast<signed char>(first);
  if (value >= -112) return 1;
  return static_cast<std::size_t>(value < -120 ? -119 - value : -111 - value);
}

struct Text : ByContent {
  static std::string_view content(std::string_view key) {
    if (key.empty()) return key;
    return key.substr(std::min(bytes_of_vint(key.front()), key.size()));
  }
  static std::uint64_t long_prefix(std::string_view key) { return first_bytes(content(key)); }
  static int compare(std::string_view a, std::string_view b) {
    return compare_bytes(content(a), content(b));
  }
};

struct Counted : ByContent {
  static std::string_view content(std::string_view key) {
    return key.substr(std::min(std::size_t{4}, key.size()));
  }
  static std::uint64_t long_prefix(std::string_view key) { return first_bytes(content(key)); }
  static int compare(std::string_view a, std::string_view b) {
    return compare_bytes(content(a), content(b));
  }
};

// Keys that are numbers, which the prefix holds whole.
template <typename Number, unsigned size_bytes>
struct ByNumber {
  static constexpr bool has_content = false;
  static constexpr unsigned decided_by = size_bytes;
  static std::uint64_t long_prefix(std::string_view key) { return Number::ordered(key); }
  static int compare(std::string_view a, std::string_view b) {
    const std::uint64_t number_of_a = Number::ordered(a);
    const std::uint64_t number_of_b = Number::ordered(b);
    return number_of_a == number_of_b ? 0 : number_of_a < number_of_b ? -1 : 1;
  }
};

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

template <unsigned size_bytes>
struct Signed : ByNumber<Signed<size_bytes>, std::max(4U, size_bytes)> {
  static std::uint64_t ordered(std::string_view key) {
    return first_bytes(key.substr(0, size_bytes)) ^ sign_bit;
  }
};

struct VariableLength : ByNumber<VariableLength, 8> {
  static std::uint64_t ordered(std::string_view key) {
    if (key.empty()) return sign_bit;
    const auto first = static_cast<signed char>(key.front());
    const std::size_t size = bytes_of_vint(key.front());
    if (size == 1) return static_cast<std::uint64_t>(std::int64_t{first}) ^ sign_bit;
    const std::uint64_t number = first_bytes(key.substr(1, size - 1)) >> (72 - 8 * size);
    return (first < -120 ? ~number : number) ^ sign_bit;
  }
};

template <unsigned size_bytes>
struct Floating : ByNumber<Floating<size_bytes>, size_bytes> {
  static std::uint64_t ordered(std::string_view key) {
    constexpr std::uint64_t infinity =
        size_bytes == 4 ? std::uint64_t{0x7F800000} << 32 : std::uint64_t{0x7FF0} << 48;
    const std::uint64_t bits = first_bytes(key.substr(0, size_bytes));
    if ((bits & ~sign_bit) > infinity) return ~std::uint64_t{0};  // not a number
    return (bits & sign_bit) != 0 ? ~bits & (size_bytes == 4 ? ~std::uint64_t{0} << 32 : ~0ULL)
                                  : bits ^ sign_bit;
  }
};

struct Unordered : ByNumber<Unordered, 4> {
  static std::uint64_t ordered(std::string_view) { return 0; }
};

struct Foreign {
  static constexpr bool has_content = false;
  static constexpr unsigned decided_by = 0;
  const ForeignKeyOrder* order;
  std::uint64_t long_prefix(std::string_view key) const {
    return order->prefix == nullptr ? 0 : order->prefix(key);
  }
  int compare(std::string_view a, std::string_view b) const { return order->compare(a, b); }
};

}  // namespace key_form

class KeyOrder {
 public:
  enum class Form : std::uint8_t {
    bytes,
    text,
    counted,
    signed_8,
    signed_16,
    signed_32,
    signed_64,
    variable_length,
    float_32,
    float_64,
    none,
    foreign,
  };

  KeyOrder() = default;  // bytes
  explicit KeyOrder(Form form) : form_(form) {}
  // `order` outlives all copies.
  explicit KeyOrder(const ForeignKeyOrder& order) : form_(Form::foreign), foreign_(&order) {}

  Form form() const { return form_; }

  // Calls with the form of the keys, one of key_form.
  template <typename Function>
  decltype(auto) visit(Function&& function) const {
    switch (form_) {
      case Form::text: return function(key_form::Text{});
      case Form::counted: return function(key_form::Counted{});
      case Form::signed_8: return function(key_form::Signed<1>{});
      case Form::signed_16: return function(key_form::Signed<2>{});
      case Form::signed_32: return function(key_form::Signed<4>{});
      case Form::signed_64: return function(key_form::Signed<8>{});
      case Form::variable_length: return function(key_form::VariableLength{});
      case Form::float_32: return function(key_form::Floating<4>{});
      case Form::float_64: return function(key_form::Floating<8>{});
      case Form::none: return function(key_form::Unordered{});
      case Form::foreign: return function(key_form::Foreign{foreign_});
      case Form::bytes: break;
    }
    return function(key_form::Bytes{});
  }

  // In front of all keys with a larger one; keys with an equal one are compared.
  std::uint64_t long_prefix(std::string_view key) const {
    return visit([&](auto form) { return form.long_prefix(key); });
  }
  // The first half of it, which goes into the index of a sort.
  std::uint32_t prefix(std::string_view key) const {
    return static_cast<std::uint32_t>(long_prefix(key) >> 32);
  }
  // Negative, 0, positive.
  int compare(std::string_view a, std::string_view b) const {
    return visit([&](auto form) { return form.compare(a, b); });
  }
  // Whether keys with equal prefixes (the first so many bytes of the long one, 4 or 8) are equal.
  bool decided_by(unsigned bytes) const {
    return visit([&](auto form) { return form.decided_by != 0 && form.decided_by <= bytes; });
  }

 private:
  Form form_ = Form::bytes;
  const ForeignKeyOrder* foreign_ = nullptr;
};

// By its name, or by that of the Hadoop class of the keys.
std::optional<KeyOrder> key_order_of(std::string_view name);

}  // namespace hummer::batch
