#include <hummer/batch/key_order.hpp>

namespace hummer::batch {
namespace {

struct NamedOrder {
  std::string_view name;
  KeyOrder::Form form;
};

constexpr NamedOrder named_orders[] = {
    {"bytes", KeyOrder::Form::bytes},           {"text", KeyOrder::Form::text},
    {"counted", KeyOrder::Form::counted},       {"byte", KeyOrder::Form::signed_8},
    {"short", KeyOrder::Form::signed_16},       {"int", KeyOrder::Form::signed_32},
    {"long", KeyOrder::Form::signed_64},        {"vint", KeyOrder::Form::variable_length},
    {"vlong", KeyOrder::Form::variable_length}, {"float", KeyOrder::Form::float_32},
    {"double", KeyOrder::Form::float_64},       {"none", KeyOrder::Form::none},
};

// What follows this in the name of a class.
constexpr std::string_view writable_package = "org.apache.hadoop.io.";

constexpr NamedOrder hadoop_orders[] = {
    {"Text", KeyOrder::Form::text},
    {"BytesWritable", KeyOrder::Form::counted},
    {"NullWritable", KeyOrder::Form::bytes},
    {"BooleanWritable", KeyOrder::Form::bytes},
    {"MD5Hash", KeyOrder::Form::bytes},
    {"ByteWritable", KeyOrder::Form::signed_8},
    {"ShortWritable", KeyOrder::Form::signed_16},
    {"IntWritable", KeyOrder::Form::signed_32},
    {"LongWritable", KeyOrder::Form::signed_64},
    {"VIntWritable", KeyOrder::Form::variable_length},
    {"VLongWritable", KeyOrder::Form::variable_length},
    {"FloatWritable", KeyOrder::Form::float_32},
    {"DoubleWritable", KeyOrder::Form::float_64},
};

}  // namespace

std::uint64_t first_bytes_of_few(std::string_view bytes) {
  const char* const data = bytes.data();
  const std::size_t size = bytes.size();
  if (size >= 4) {  // two words that overlap
    std::uint32_t front, back;
    std::memcpy(&front, data, 4);
    std::memcpy(&back, data + size - 4, 4);
    return (std::uint64_t{__builtin_bswap32(front)} << 32) |
           (std::uint64_t{__builtin_bswap32(back)} << (64 - 8 * size));
  }
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(data[i])} << (56 - 8 * i);
  }
  return number;
}

std::optional<KeyOrder> key_order_of(std::string_view name) {
  for (const NamedOrder& each : named_orders) {
    if (each.name == name) return KeyOrder(each.form);
  }
  if (!name.starts_with(writable_package)) return std::nullopt;
  name.remove_prefix(writable_package.size());
  for (const NamedOrder& each : hadoop_orders) {
    if (each.name == name) return KeyOrder(each.form);
  }
  return std::nullopt;
}

}  // namespace hummer::batch
