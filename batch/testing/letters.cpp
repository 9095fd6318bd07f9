// A class library for tests: letters of lines, counted, and classes that fail or end the process.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include <hummer/batch/class_library.hpp>

namespace {

using namespace hummer;
using namespace hummer::batch;

class LetterMapper final : public RecordMapper<LetterMapper> {
 public:
  Status open(TaskContext& context) override {
    kept_ = std::string(context.parameter("letters"));
    letters_ = &context.counters().counter("Letters", "seen");
    return Status();
  }
  void map_record(const RecordView& line, MapOutput& output) {
    for (const char& letter : line.value()) {
      if (!kept_.empty() && kept_.find(letter) == std::string::npos) continue;
      letters_->add(1);
      output.emit({&letter, 1}, "1");
    }
  }

 private:
  std::string kept_;
  Counter* letters_ = nullptr;
};

std::uint64_t sum_of_texts(GroupReader& group) {
  std::uint64_t sum = 0;
  while (group.next_value()) sum += std::stoull(std::string(group.value()));
  return sum;
}

class TextSumCombiner final : public Combiner {
 public:
  Status combine(GroupReader& group, RecordBuffer& out) override {
    out.add(group.key(), std::to_string(sum_of_texts(group)));
    return Status();
  }
};

class TextSumReducer final : public GroupedReducer<TextSumReducer> {
 public:
  void reduce_group(GroupReader& group, RecordOutput& output) {
    output.emit(group.key(), std::to_string(sum_of_texts(group)));
  }
};

struct Count {
  std::uint64_t value = 0;
};

class TextSumFolder final : public StateFolder<TextSumFolder, Count> {
 public:
  void fold_record(Count& count, const RecordView& record) {
    count.value += std::stoull(std::string(record.value()));
  }
  void emit_state(std::string_view key, const Count& count, RecordOutput& output) {
    output.emit(key, std::to_string(count.value));
  }
};

// The first half of the bytes to partition 0, the others to the last.
class HalvesPartitioner final : public Partitioner {
 public:
  Status partition(std::span<const RecordView> records, std::uint32_t partitions,
                   std::span<std::uint32_t> into) override {
    for (std::size_t i = 0; i < records.size(); ++i) {
      into[i] = records[i].key() < "n" ? 0 : partitions - 1;
    }
    return Status();
  }
};

class FarPartitioner final : public Partitioner {
 public:
  Status partition(std::span<const RecordView>, std::uint32_t partitions,
                   std::span<std::uint32_t> into) override {
    for (std::uint32_t& partition : into) partition = partitions;
    return Status();
  }
};

class ThrowingCombiner final : public Combiner {
 public:
  Status combine(GroupReader&, RecordBuffer&) override {
    throw std::runtime_error("no such sum, please");
  }
};

// Throws at the line "boom".
class ThrowingMapper final : public RecordMapper<ThrowingMapper> {
 public:
  void map_record(const RecordView& line, MapOutput& output) {
    if (line.value() == "boom") throw std::runtime_error("no such line, please");
    output.emit(line.value(), {});
  }
};

// Whether this process has a file without a name where Hadoop's map tasks put theirs.
bool has_spilled() {
  std::error_code failed;
  for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fd", failed)) {
    const std::string file = std::filesystem::read_symlink(descriptor, failed).string();
    if (file.find("/appcache/application_") != std::string::npos &&
        file.ends_with(".run (deleted)")) {
      return true;
    }
  }
  return false;
}

// Letters. Where there are spills the first attempt of task 0 comes to what the parameter `fault`
// says: `kill`, `segv` or `abort` end the process, with `wait` it is there for long, and the file
// `marker` says so.
class FaultyMapper final : public RecordMapper<FaultyMapper> {
 public:
  Status open(TaskContext& context) override {
    if (context.number() == 0 && context.attempt() == 1) fault_ = context.parameter("fault");
    marker_ = context.parameter("marker");
    return letters_.open(context);
  }
  void map_record(const RecordView& line, MapOutput& output) {
    letters_.map_record(line, output);
    if (!fault_.empty() && ++lines_ % lines_between_looks == 0 && has_spilled()) fail();
  }

 private:
  static constexpr std::uint64_t lines_between_looks = 64;

  void fail() {
    int* volatile nowhere = nullptr;
    if (fault_ == "kill") static_cast<void>(std::raise(SIGKILL));
    if (fault_ == "segv") *nowhere = 1;
    if (fault_ == "abort") std::abort();
    std::ofstream(marker_).close();
    std::this_thread::sleep_for(std::chrono::minutes(5));
  }

  LetterMapper letters_;
  std::string fault_;
  std::string marker_;
  std::uint64_t lines_ = 0;
};

int compare_descending(std::string_view a, std::string_view b) { return compare_bytes(b, a); }

}  // namespace

HUMMER_BATCH_LIBRARY(letters) {
  library.add<LetterMapper>("LetterMapper");
  library.add<TextSumCombiner>("TextSumCombiner");
  library.add<TextSumReducer>("TextSumReducer");
  library.add<TextSumFolder>("TextSumFolder");
  library.add<FarPartitioner>("FarPartitioner");
  library.add<ThrowingCombiner>("ThrowingCombiner");
  library.add<HalvesPartitioner>("HalvesPartitioner");
  library.add<ThrowingMapper>("ThrowingMapper");
  library.add<FaultyMapper>("FaultyMapper");
  library.add_key_order("descending", {"descending", &compare_descending, nullptr});
}
