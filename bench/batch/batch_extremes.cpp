// batch_extremes --case NAME --records N --spills DIRECTORY [--memory-mib N] [--partitions N]
//   [--value-bytes N] [--json]
//
// The batch core's collector on records that are far from the usual ones: collects them, takes all
// partitions again and judges every record.
//
//   partitions   100,000 partitions, records of 100 bytes
//   small        records of 10 bytes: a key of 6, a value of 4
//   large        records of 50 MB, whose values compress; spilled by lz4
//   one_key      every record has the same key, and so goes to one of 8 partitions
//
// Right is: keys in order; equal keys in the order in which they came; each record in its
// partition, byte for byte, and there once (by number and sum). The keys are pseudo-random numbers
// of the records' numbers, and the values begin with those.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "batch/merger.hpp"
#include "batch/output_collector.hpp"
#include "platform/platform.hpp"
#include "program.hpp"

namespace {

using namespace hummer;

struct Case {
  const char* name;
  std::uint32_t partitions;
  std::size_t key_bytes;
  std::size_t value_bytes;
  std::uint64_t keys;  // different ones; 0: each record has its own
  std::uint64_t memory_mib;
  batch::Codec codec;
};

constexpr Case cases[] = {
    {"partitions", 100'000, 10, 90, 0, 256, batch::Codec::none},
    {"small", 8, 6, 4, 0, 64, batch::Codec::none},
    {"large", 4, 16, 50'000'000 - 16, 0, 2048, batch::Codec::lz4},
    {"one_key", 8, 10, 16, 1, 128, batch::Codec::none},
};

void must(const Status& status) {
  if (!status.ok()) terasort::fail("batch_extremes: " + status.to_string());
}

template <typename T>
T must(Result<T> result) {
  must(result.status());
  return std::move(*result);
}

std::uint64_t mixed(std::uint64_t number) {
  number += 0x9E3779B97F4A7C15U;
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9U;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBU;
  return number ^ (number >> 31);
}

class Records {
 public:
  Records(const Case& which, std::uint64_t count, std::uint32_t partitions, std::size_t value_bytes)
      : case_(which),
        count_(count),
        partitions_(partitions),
        key_(which.key_bytes, '\0'),
        value_(value_bytes, '\0'),
        number_bytes_(std::min(value_bytes, sizeof(std::uint64_t))) {
    // A thousand bytes that come again and again.
    for (std::size_t i = 0; i < value_.size(); ++i) {
      value_[i] = static_cast<char>(mixed(i % 1'000));
    }
    rest_ = value_.substr(number_bytes_);
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t number_mask() const {
    return number_bytes_ == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * number_bytes_)) - 1;
  }

  // Views hold until the next call.
  std::string_view key_of(std::uint64_t number) {
    std::uint64_t left = mixed(case_.keys == 0 ? number : number % case_.keys);
    for (char& byte : key_) {
      byte = static_cast<char>(left);
      left = (left >> 8) | (left << 56);
    }
    return key_;
  }
  std::string_view value_of(std::uint64_t number) {
    std::memcpy(value_.data(), &number, number_bytes_);
    return value_;
  }
  std::uint32_t partition_of(std::string_view key) const {
    std::uint64_t number = 0;
    std::memcpy(&number, key.data(), std::min(key.size(), sizeof number));
    return static_cast<std::uint32_t>(((mixed(number) >> 32) * partitions_) >> 32);
  }

  std::uint64_t number_in(std::string_view value) const {
    std::uint64_t number = 0;
    std::memcpy(&number, value.data(), number_bytes_);
    return number;
  }
  bool is_whole(std::string_view value) const {
    return value.size() == value_.size() && value.substr(number_bytes_) == rest_;
  }

 private:
  const Case& case_;
  const std::uint64_t count_;
  const std::uint32_t partitions_;
  std::string key_;
  std::string value_;
  std::string rest_;
  const std::size_t number_bytes_;
};

struct Judged {
  std::uint64_t records = 0;
  std::uint64_t sum = 0;
  std::uint64_t wrong = 0;
};

void judge(batch::OutputCollector& collector, std::uint32_t partition, Records& records,
           Judged& judged) {
  batch::Merger merger(batch::KeyOrder(), must(collector.take(partition)));
  std::string last_key;
  std::uint64_t last_number = 0;
  bool has_last = false;
  for (;;) {
    const auto span = must(merger.next());
    if (span.empty()) return;
    for (const batch::RecordView& record : span) {
      const std::string_view key = record.key();
      const std::uint64_t number = records.number_in(record.value());
      const int order = has_last ? last_key.compare(key) : -1;
      const bool right = records.is_whole(record.value()) && key == records.key_of(number) &&
                         records.partition_of(key) == partition &&
                         (order < 0 || (order == 0 && last_number < number));
      judged.wrong += right ? 0 : 1;
      ++judged.records;
      judged.sum += number;
      if (order != 0) last_key = key;
      last_number = number;
      has_last = true;
    }
  }
}

const Case& case_named(const std::string& name) {
  for (const Case& each : cases) {
    if (name == each.name) return each;
  }
  terasort::fail("batch_extremes: no case " + name);
}

}  // namespace

int main(int argc, char** argv) {
  const terasort::Words words(
      argc, argv,
      "batch_extremes --case NAME --records N --spills DIRECTORY [--memory-mib N] "
      "[--partitions N] [--value-bytes N] [--json]");
  const Case& which = case_named(words.text("case"));
  const auto partitions = static_cast<std::uint32_t>(words.number("partitions", which.partitions));
  const std::uint64_t memory_mib = words.number("memory-mib", which.memory_mib);
  Records records(which, words.number("records", 1'000), partitions,
                  words.number("value-bytes", which.value_bytes));
  const auto platform = make_linux_platform();
  const double begin = terasort::seconds_now();
  auto collector =
      must(batch::OutputCollector::create(*platform, {.partitions = partitions,
                                                      .memory_bytes = memory_mib << 20,
                                                      .codec = which.codec,
                                                      .spill_directory = words.text("spills")}));
  Judged expected;
  for (std::uint64_t number = 0; number < records.count(); ++number) {
    const std::string_view key = records.key_of(number);
    must(collector->collect(records.partition_of(key), key, records.value_of(number)));
    expected.sum += number & records.number_mask();
  }
  must(collector->finish());
  const double collected = terasort::seconds_now();
  const double resident_mib = terasort::peak_resident_mib();
  Judged found;
  for (std::uint32_t partition = 0; partition < partitions; ++partition) {
    judge(*collector, partition, records, found);
  }
  const double seconds = terasort::seconds_now() - begin;
  const bool is_right =
      found.wrong == 0 && found.records == records.count() && found.sum == expected.sum;
  const batch::CollectorMetrics metrics = collector->metrics();
  char more[320];
  std::snprintf(more, sizeof more,
                ", \"right\": %s, \"collect_seconds\": %.3f, \"collect_resident_mib\": %.0f, "
                "\"memory_mib\": %llu, \"spills\": %llu, \"spilled_bytes\": %llu, \"merges\": %llu",
                is_right ? "true" : "false", collected - begin, resident_mib,
                static_cast<unsigned long long>(memory_mib),
                static_cast<unsigned long long>(metrics.spills),
                static_cast<unsigned long long>(metrics.spilled_bytes),
                static_cast<unsigned long long>(metrics.merges));
  char text[160];
  std::snprintf(text, sizeof text, "; %llu spills, %llu wrong: %s",
                static_cast<unsigned long long>(metrics.spills),
                static_cast<unsigned long long>(found.wrong), is_right ? "right" : "WRONG");
  terasort::report(words, "batch_extremes", found.records, seconds, more, text);
  return is_right ? 0 : 1;
}
