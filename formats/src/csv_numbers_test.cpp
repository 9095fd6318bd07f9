// Columns of numbers, eight at once, on each instruction set: what is read is what the library
// makes of each field, and nothing is read that is no number to it.
#include "csv_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <hummer/detail/instruction_set.hpp>

#include "number_text.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::formats::csv_numbers_test {
namespace {

// Rows of three fields, with the number in the first, the middle or the last one.
struct Column {
  std::string text;
  std::vector<std::string> fields;
  std::vector<std::uint32_t> borders{UINT32_MAX};  // one ahead of the first
  std::size_t index = 0;

  Column(std::vector<std::string> values, std::size_t at, bool windows)
      : fields(std::move(values)), index(at) {
    // What a first field has ahead of it in the buffer.
    text.assign(number_bytes, '9');
    borders[0] = static_cast<std::uint32_t>(text.size()) - 1;
    for (const std::string& field : fields) {
      for (std::size_t i = 0; i < 3; ++i) {
        text += i == index ? field : "77";
        if (i == 2 && windows) text += '\r';
        borders.push_back(static_cast<std::uint32_t>(text.size()));
        text += i == 2 ? '\n' : ',';
      }
    }
  }
};

template <typename Number>
struct Record {
  std::uint64_t before = 11;
  Number number = 0;
  std::uint64_t behind = 22;
};

// How many rows a reader takes, all of which are compared.
template <typename Number>
std::size_t read(const Column& column, CsvNumberReader reader) {
  std::vector<Record<Number>> records(column.fields.size());
  const std::size_t done =
      reader({.text = column.text.data(),
              .border = column.borders.data() + 1 + column.index,
              .step = 3,
              .rows = records.size(),
              .field = reinterpret_cast<char*>(records.data()) + offsetof(Record<Number>, number),
              .stride = sizeof(Record<Number>),
              .is_last = column.index == 2});
  EXPECT_EQ(done % csv_numbers_at_once, 0u);
  EXPECT_LE(done, records.size());
  for (std::size_t i = 0; i < done; ++i) {
    const std::string& field = column.fields[i];
    Number expected = 0;
    EXPECT_TRUE(parse_by_library(field.data(), field.size(), expected)) << "'" << field << "'";
    EXPECT_EQ(std::memcmp(&records[i].number, &expected, sizeof expected), 0)
        << "'" << field << "' is not " << records[i].number;
    EXPECT_EQ(records[i].before, 11u);
    EXPECT_EQ(records[i].behind, 22u);
  }
  return done;
}

std::vector<CsvNumberReaders> all_readers() {
  const InstructionSet best = best_instruction_set();
  std::vector<CsvNumberReaders> readers;
  if (best >= InstructionSet::v3) readers.push_back(csv_number_readers_v3());
  if (best >= InstructionSet::v4) readers.push_back(csv_number_readers_v4());
  return readers;
}

template <typename Number>
CsvNumberReader reader_of(const CsvNumberReaders& readers) {
  if constexpr (std::is_same_v<Number, double>) return readers.f64;
  if constexpr (std::is_same_v<Number, std::int64_t>) return readers.i64;
  if constexpr (std::is_same_v<Number, std::int32_t>) return readers.i32;
  if constexpr (std::is_same_v<Number, std::uint64_t>) return readers.u64;
  return readers.u32;
}

std::string digits(std::mt19937_64& random, std::size_t count) {
  std::string text;
  for (; count > 0; --count) text += static_cast<char>('0' + random() % 10);
  return text;
}

// Mostly of one form, in some rows of others, and of none.
std::vector<std::string> drawn(std::mt19937_64& random) {
  const std::size_t whole = 1 + random() % 12;
  const std::size_t part = random() % 3 == 0 ? 0 : random() % 5;
  const unsigned odd_ones = random() % 3 == 0 ? 0 : 20;  // of a hundred
  const bool has_signs = random() % 2 == 0;
  std::vector<std::string> fields;
  for (std::size_t rows = 1 + random() % 40; rows > 0; --rows) {
    std::string field = has_signs && random() % 2 == 0 ? "-" : "";
    field += digits(random, 1 + random() % whole);
    if (part > 0) field += "." + digits(random, part);
    if (random() % 100 < odd_ones) {
      const std::vector<std::string> odd{"",
                                         "-",
                                         ".",
                                         "-.",
                                         "5.",
                                         ".5",
                                         "--1",
                                         "1-2",
                                         "+1",
                                         "1e5",
                                         "inf",
                                         " 1",
                                         "1.2.3",
                                         "-0",
                                         "-0.0",
                                         "0x1",
                                         "1,",
                                         "/",
                                         ":",
                                         digits(random, 15),
                                         digits(random, 16),
                                         digits(random, 17),
                                         "-" + digits(random, 15),
                                         "-" + digits(random, 16),
                                         "2147483647",
                                         "2147483648",
                                         "-2147483648",
                                         "4294967295",
                                         "4294967296",
                                         "9007199254740992",
                                         "9007199254740993",
                                         std::string(random() % 18, '0') + "7",
                                         digits(random, random() % 16) + "." + digits(random, 1)};
      field = odd[random() % odd.size()];
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

template <typename Number>
class CsvNumbers : public testing::Test {};
using Numbers = testing::Types<double, std::int64_t, std::int32_t, std::uint64_t, std::uint32_t>;
TYPED_TEST_SUITE(CsvNumbers, Numbers);

TYPED_TEST(CsvNumbers, AreWhatTheLibraryMakesOfThem) {
  std::mt19937_64 random(1);
  std::size_t read_in_all = 0;
  for (std::uint64_t i = 0; i < drawn_cases(6000); ++i) {
    const Column column(drawn(random), random() % 3, random() % 2 == 0);
    std::vector<std::size_t> done;
    for (const CsvNumberReaders& readers : all_readers()) {
      done.push_back(read<TypeParam>(column, reader_of<TypeParam>(readers)));
      read_in_all += done.back();
      EXPECT_EQ(done.back(), done.front()) << "rows on one instruction set";
      if (this->HasFailure()) return;
    }
  }
  if (!all_readers().empty()) {
    EXPECT_GT(read_in_all, drawn_cases(6000));
  }
}

// What is usual must not go one by one.
TYPED_TEST(CsvNumbers, OfOneFormAreReadToTheEnd) {
  std::mt19937_64 random(2);
  constexpr bool is_real = std::is_same_v<TypeParam, double>;
  for (const CsvNumberReaders& readers : all_readers()) {
    for (std::size_t whole = 1; whole <= (is_real ? 12 : 9); ++whole) {
      std::vector<std::string> fields;
      for (int i = 0; i < 64; ++i) {
        std::string field = std::is_signed_v<TypeParam> && random() % 2 == 0 ? "-" : "";
        field += digits(random, 1 + random() % whole);
        if (is_real) field += "." + digits(random, 2);
        fields.push_back(field);
      }
      for (const std::size_t at : {0, 1, 2}) {
        for (const bool windows : {false, true}) {
          const Column column(fields, at, windows);
          EXPECT_EQ(read<TypeParam>(column, reader_of<TypeParam>(readers)), 64u) << whole;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hummer::formats::csv_numbers_test
