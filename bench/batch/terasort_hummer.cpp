// terasort_hummer --input FILE --output DIRECTORY --spills DIRECTORY [--threads N] [--partitions N]
//   [--memory-mib N] [--codec NAME] [--json]
//
// TeraSort by the batch core: map threads take splits of the input and collect its records by
// partition, whose borders come from a sample; reduce threads take partitions, merge what all
// collectors have of them, and write one part each. Memory is divided among the collectors, but for
// what threads read and write with.
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "batch/merger.hpp"
#include "batch/output_collector.hpp"
#include "platform/platform.hpp"
#include "program.hpp"
#include "tera_records.hpp"

namespace {

using namespace hummer;
using terasort::key_bytes;
using terasort::record_bytes;

constexpr std::size_t records_at_once = 5'000;  // read, so half a megabyte
constexpr std::uint64_t split_records = 500'000;
constexpr std::size_t write_bytes = std::size_t{1} << 20;
constexpr std::size_t sampled_records = 100'000;
constexpr std::size_t sampled_places = 100;
// For the program itself, and what threads read and write with.
constexpr std::size_t memory_beside = std::size_t{64} << 20;

void must(const Status& status) {
  if (!status.ok()) terasort::fail("terasort_hummer: " + status.to_string());
}

template <typename T>
T must(Result<T> result) {
  must(result.status());
  return std::move(*result);
}

// Which partition a key is for: borders[p - 1] <= key < borders[p]. The first two bytes of a key
// say where to begin looking.
class RangePartitioner {
 public:
  RangePartitioner(std::vector<std::string> sample, std::uint32_t partitions)
      : first_(std::size_t{1} << 16) {
    std::sort(sample.begin(), sample.end());
    for (std::uint32_t i = 1; i < partitions && !sample.empty(); ++i) {
      borders_.push_back(number_of(sample[sample.size() * i / partitions].data()));
    }
    std::size_t border = 0;
    for (std::size_t prefix = 0; prefix < first_.size(); ++prefix) {
      while (border < borders_.size() && borders_[border] >> 48 < prefix) ++border;
      first_[prefix] = static_cast<std::uint32_t>(border);
    }
    borders_.push_back(~std::uint64_t{0});
  }

  std::uint32_t partition_of(const char* key) const {
    const std::uint64_t number = number_of(key);
    std::uint32_t partition = first_[number >> 48];
    while (borders_[partition] <= number && partition + 1 < borders_.size()) ++partition;
    return partition;
  }

 private:
  // A key's first 8 bytes, as they are ordered; where borders are, the others do not count.
  static std::uint64_t number_of(const char* key) {
    std::uint64_t word;
    std::memcpy(&word, key, sizeof word);
    return __builtin_bswap64(word);
  }
  std::vector<std::uint64_t> borders_;  // and one that is above all
  std::vector<std::uint32_t> first_;  // by the first two bytes: the first border that may be above
};

std::vector<std::string> draw_sample(ReadableFile& file, std::uint64_t records) {
  std::vector<std::string> sample;
  const std::uint64_t places =
      std::min<std::uint64_t>(sampled_places, std::max<std::uint64_t>(records, 1));
  const std::uint64_t at_each = std::min(records / places, sampled_records / sampled_places);
  std::vector<char> buffer(at_each * record_bytes);
  for (std::uint64_t place = 0; place < places; ++place) {
    must(file.read_at(records / places * place * record_bytes, buffer));
    for (std::size_t at = 0; at < buffer.size(); at += record_bytes) {
      sample.emplace_back(buffer.data() + at, key_bytes);
    }
  }
  return sample;
}

void map_splits(ReadableFile& file, std::uint64_t records, std::atomic<std::uint64_t>& next_split,
                const RangePartitioner& partitioner, batch::OutputCollector& collector) {
  std::vector<char> buffer(records_at_once * record_bytes);
  for (;;) {
    std::uint64_t row = next_split.fetch_add(1) * split_records;
    const std::uint64_t end = std::min(row + split_records, records);
    if (row >= end) return;
    while (row < end) {
      const std::size_t bytes = std::min<std::uint64_t>(records_at_once, end - row) * record_bytes;
      if (must(file.read_at(row * record_bytes, {buffer.data(), bytes})) != bytes) {
        terasort::fail("the input became shorter");
      }
      for (const char* at = buffer.data(); at != buffer.data() + bytes; at += record_bytes) {
        must(collector.collect(partitioner.partition_of(at), {at, key_bytes},
                               {at + key_bytes, record_bytes - key_bytes}));
      }
      row += bytes / record_bytes;
    }
  }
}

class PartWriter {
 public:
  PartWriter(Files& files, const std::string& path, std::vector<char>& buffer)
      : file_(must(files.open_for_writing(path, WriteMode::truncate))), buffer_(buffer) {}

  void add(const batch::RecordView& record) {
    const std::size_t bytes = std::size_t{record.key_bytes} + record.value_bytes;
    if (bytes > buffer_.size() - filled_) flush();
    char* const to = buffer_.data() + filled_;
    if (record.value_data == record.key_data + record.key_bytes) {
      std::memcpy(to, record.key_data, bytes);
    } else {
      std::memcpy(to, record.key_data, record.key_bytes);
      std::memcpy(to + record.key_bytes, record.value_data, record.value_bytes);
    }
    filled_ += bytes;
  }
  void close() {
    flush();
    must(file_->close());
  }

 private:
  void flush() {
    must(file_->append({buffer_.data(), filled_}));
    filled_ = 0;
  }
  std::unique_ptr<WritableFile> file_;
  std::vector<char>& buffer_;
  std::size_t filled_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const terasort::Words words(
      argc, argv,
      "terasort_hummer --input FILE --output DIRECTORY --spills DIRECTORY "
      "[--threads N] [--partitions N] [--memory-mib N] [--codec NAME] [--json]");
  const auto threads = static_cast<std::size_t>(words.number("threads", 2));
  const std::size_t memory = words.number("memory-mib", 2048) << 20;
  const std::string output = words.text("output");
  const auto codec = batch::codec_of(words.has("codec") ? words.text("codec") : "none");
  if (threads == 0 || memory <= 2 * memory_beside || !codec.has_value()) {
    terasort::fail("--threads, --memory-mib or --codec is out of range");
  }
  const auto platform = make_linux_platform();
  const auto input = must(platform->files().open_for_reading(words.text("input")));
  const std::uint64_t records = input->size_bytes() / record_bytes;
  // As large as an index that lies in a core's cache, where there is one collector for each.
  const auto partitions = static_cast<std::uint32_t>(
      words.number("partitions", std::clamp<std::uint64_t>(records / 100'000, threads, 1'000)));
  terasort::make_output(output);

  const double begin = terasort::seconds_now();
  const RangePartitioner partitioner(draw_sample(*input, records), partitions);
  std::vector<std::unique_ptr<batch::OutputCollector>> collectors;
  std::vector<batch::OutputCollector*> all_collectors;
  const std::size_t memory_each =
      (memory - memory_beside) / threads / batch::RecordArena::unit * batch::RecordArena::unit;
  const auto pages = std::make_shared<ZeroedPages>(threads * memory_each);
  for (std::size_t i = 0; i < threads; ++i) {
    collectors.push_back(
        must(batch::OutputCollector::create(*platform, {.partitions = partitions,
                                                        .memory_bytes = memory_each,
                                                        .memory = {pages, i * memory_each},
                                                        .codec = *codec,
                                                        .spill_directory = words.text("spills")})));
    all_collectors.push_back(collectors.back().get());
  }
  std::vector<std::thread> workers;
  const auto finish_workers = [&workers] {
    for (std::thread& worker : workers) worker.join();
    workers.clear();
  };

  std::atomic<std::uint64_t> next_split{0};
  for (const auto& collector : collectors) {
    workers.emplace_back([&] {
      map_splits(*input, records, next_split, partitioner, *collector);
      must(collector->finish());
    });
  }
  finish_workers();
  const double mapped = terasort::seconds_now();

  std::atomic<std::uint32_t> next_partition{0};
  for (std::size_t i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      std::vector<char> buffer(write_bytes);
      for (;;) {
        const std::uint32_t partition = next_partition.fetch_add(1);
        if (partition >= partitions) return;
        batch::Merger merger(batch::KeyOrder(),
                             must(batch::take_of_all(all_collectors, partition)));
        PartWriter part(platform->files(), terasort::part_path(output, partition), buffer);
        for (;;) {
          const auto span = must(merger.next());
          if (span.empty()) break;
          for (const batch::RecordView& record : span) part.add(record);
        }
        part.close();
      }
    });
  }
  finish_workers();
  const double seconds = terasort::seconds_now() - begin;

  batch::CollectorMetrics all;
  for (const auto& collector : collectors) {
    const batch::CollectorMetrics one = collector->metrics();
    all.spills += one.spills;
    all.spilled_bytes += one.spilled_bytes;
    all.sort_nanoseconds += one.sort_nanoseconds;
    all.spill_nanoseconds += one.spill_nanoseconds;
  }
  char more[240];
  std::snprintf(more, sizeof more,
                ", \"map_seconds\": %.3f, \"spills\": %llu, \"spilled_bytes\": %llu, "
                "\"sort_seconds\": %.3f, \"spill_seconds\": %.3f",
                mapped - begin, static_cast<unsigned long long>(all.spills),
                static_cast<unsigned long long>(all.spilled_bytes),
                static_cast<double>(all.sort_nanoseconds) / 1e9,
                static_cast<double>(all.spill_nanoseconds) / 1e9);
  char text[240];
  std::snprintf(text, sizeof text,
                "; map %.3f s; of all threads: sorting %.3f s, spilling %.3f s; %llu spills",
                mapped - begin, static_cast<double>(all.sort_nanoseconds) / 1e9,
                static_cast<double>(all.spill_nanoseconds) / 1e9,
                static_cast<unsigned long long>(all.spills));
  terasort::report(words, "terasort_hummer", records, seconds, more, text);
  return 0;
}
