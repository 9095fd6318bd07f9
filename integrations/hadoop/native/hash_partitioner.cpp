#include "hash_partitioner.hpp"

#include <algorithm>

#include "batch/vint.hpp"

namespace hummer::hadoop {
namespace {

using batch::first_bytes;

// The hash codes of org.apache.hadoop.io's classes; what they write is the argument.
std::int32_t hash_of_bytes(std::string_view bytes) {
  std::uint32_t hash = 1;
  for (const char byte : bytes) {
    hash = 31 * hash + static_cast<std::uint32_t>(static_cast<signed char>(byte));
  }
  return static_cast<std::int32_t>(hash);
}

std::int32_t hash_of_byte(std::string_view key) {
  return key.empty() ? 0 : static_cast<signed char>(key.front());
}

std::int32_t hash_of_boolean(std::string_view key) {
  return !key.empty() && key.front() != 0 ? 0 : 1;
}

std::int32_t hash_of_short(std::string_view key) {
  return static_cast<std::int16_t>(first_bytes(key) >> 48);
}

// Of an IntWritable; an MD5Hash has its first four bytes.
std::int32_t hash_of_int(std::string_view key) {
  return static_cast<std::int32_t>(first_bytes(key) >> 32);
}

std::int32_t hash_of_long(std::string_view key) {
  return static_cast<std::int32_t>(first_bytes(key));
}

std::int32_t hash_of_vint(std::string_view key) {
  std::int64_t number = 0;
  static_cast<void>(batch::read_vint(key.data(), key.data() + key.size(), number));
  return static_cast<std::int32_t>(number);
}

// Java has one bit pattern for all that is not a number.
std::int32_t hash_of_float(std::string_view key) {
  const auto bits = static_cast<std::uint32_t>(first_bytes(key) >> 32);
  return static_cast<std::int32_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC00000 : bits);
}

std::int32_t hash_of_double(std::string_view key) {
  const std::uint64_t bits = first_bytes(key);
  const bool is_number = (bits & ~(std::uint64_t{1} << 63)) <= std::uint64_t{0x7FF} << 52;
  return is_number ? static_cast<std::int32_t>(bits) : 0;
}

std::int32_t hash_of_nothing(std::string_view) { return 0; }

struct HashOfClass {
  std::string_view class_name;
  JavaHashPartitioner::Hash hash;
};

constexpr HashOfClass hashes[] = {
    {"Text", hash_of_bytes},
    {"BytesWritable", hash_of_bytes},
    {"ByteWritable", hash_of_byte},
    {"BooleanWritable", hash_of_boolean},
    {"ShortWritable", hash_of_short},
    {"IntWritable", hash_of_int},
    {"LongWritable", hash_of_long},
    {"VIntWritable", hash_of_vint},
    {"VLongWritable", hash_of_vint},
    {"FloatWritable", hash_of_float},
    {"DoubleWritable", hash_of_double},
    {"MD5Hash", hash_of_int},
    {"NullWritable", hash_of_nothing},
};
constexpr std::string_view writables = "org.apache.hadoop.io.";

}  // namespace

std::unique_ptr<batch::Partitioner> JavaHashPartitioner::of(std::string_view key_class) {
  if (!key_class.starts_with(writables)) return nullptr;
  key_class.remove_prefix(writables.size());
  const auto* const found =
      std::find_if(std::begin(hashes), std::end(hashes),
                   [&](const HashOfClass& each) { return each.class_name == key_class; });
  if (found == std::end(hashes)) return nullptr;
  return std::make_unique<JavaHashPartitioner>(found->hash);
}

Status JavaHashPartitioner::partition(std::span<const batch::RecordView> records,
                                      std::uint32_t partitions, std::span<std::uint32_t> into) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    into[i] = static_cast<std::uint32_t>(hash_(records[i].key()) & 0x7FFFFFFF) % partitions;
  }
  return Status();
}

}  // namespace hummer::hadoop
