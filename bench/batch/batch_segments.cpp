// batch_segments write DIRECTORY
// batch_segments read DIRECTORY...
//
// Segments of every codec, with records that HadoopSegments.java makes as well, so that either side
// can judge what the other has written: DIRECTORY/CODEC.out and its index DIRECTORY/CODEC.index.
//
// `read` prints a line for each directory and codec: "DIRECTORY CODEC read RECORDS" where every
// record is the one that was written, "DIRECTORY CODEC refused MESSAGE" where reading fails, and
// "DIRECTORY CODEC WRONG …" where it does not fail and gives other records.
#include <cstdint>
#include <cstdio>
#include <string>

#include "batch/segment.hpp"
#include "batch/segment_index.hpp"
#include "platform/platform.hpp"
#include "program.hpp"

namespace {

using namespace hummer;
using batch::Codec;

constexpr Codec codecs[] = {Codec::none, Codec::snappy, Codec::lz4, Codec::gzip, Codec::zstd};
constexpr int partitions = 4;

// One partition is empty, one has a single record.
int records_of(int partition) { return partition == 1 ? 0 : partition == 3 ? 1 : 230; }

std::size_t key_bytes(int partition, int record) {
  return static_cast<std::size_t>((record * 7919L + partition * 131L) % 300);
}

// Some are larger than any buffer of either side.
std::size_t value_bytes(int record) {
  return record % 50 == 49 ? static_cast<std::size_t>(400'000 + record)
                           : static_cast<std::size_t>((record * 104'729L) % 5'000);
}

// Half of it is random, half of it compresses.
std::string bytes_of(std::size_t size, int partition, int record, int salt) {
  std::string bytes(size, '\0');
  auto state = static_cast<std::uint64_t>(partition * 1'000'003L + record * 7L + salt);
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 100 < 50) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      bytes[i] = static_cast<char>(state >> 33);
    } else {
      bytes[i] = static_cast<char>(record);
    }
  }
  return bytes;
}

std::string key_of(int partition, int record) {
  return bytes_of(key_bytes(partition, record), partition, record, 1);
}
std::string value_of(int partition, int record) {
  return bytes_of(value_bytes(record), partition, record, 2);
}

void must(const Status& status) {
  if (!status.ok()) terasort::fail("batch_segments: " + status.to_string());
}

std::string base_of(const std::string& directory, Codec codec) {
  return directory + "/" + std::string(batch::name_of(codec));
}

void write(Files& files, const std::string& directory, Codec codec) {
  auto file = files.open_for_writing(base_of(directory, codec) + ".out", WriteMode::truncate);
  must(file.status());
  batch::SegmentWriter writer(**file, codec);
  batch::SegmentIndex index;
  for (int partition = 0; partition < partitions; ++partition) {
    for (int record = 0; record < records_of(partition); ++record) {
      must(writer.add(key_of(partition, record), value_of(partition, record)));
    }
    auto place = writer.finish();
    must(place.status());
    index.places.push_back(*place);
  }
  must((*file)->close());
  auto index_file =
      files.open_for_writing(base_of(directory, codec) + ".index", WriteMode::truncate);
  must(index_file.status());
  must(batch::write_segment_index(index, **index_file));
  must((*index_file)->close());
}

// What there is to say of it, where reading does not fail.
Result<std::string> read(Files& files, const std::string& directory, Codec codec) {
  auto index_file = files.open_for_reading(base_of(directory, codec) + ".index");
  if (!index_file.ok()) return index_file.status();
  const auto index = batch::read_segment_index(**index_file);
  if (!index.ok()) return index.status();
  auto file = files.open_for_reading(base_of(directory, codec) + ".out");
  if (!file.ok()) return file.status();
  if (index->places.size() != partitions) return std::string("WRONG: another number of partitions");
  int all = 0;
  bool same = true;
  for (int partition = 0; partition < partitions; ++partition) {
    const auto place = index->places[static_cast<std::size_t>(partition)];
    batch::SegmentReader reader(**file, place, codec);
    int record = 0;
    for (;;) {
      const auto span = reader.next();
      if (!span.ok()) return span.status();
      if (span->empty()) break;
      for (const auto& found : *span) {
        same = same && found.key() == key_of(partition, record) &&
               found.value() == value_of(partition, record);
        ++record;
      }
    }
    same = same && record == records_of(partition);
    all += record;
  }
  return (same ? "read " : "WRONG records, ") + std::to_string(all);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  if (what != "write" && what != "read") {
    terasort::fail("usage: batch_segments write DIRECTORY | batch_segments read DIRECTORY...");
  }
  const auto platform = make_linux_platform();
  for (int i = 2; i < argc; ++i) {
    for (const Codec codec : codecs) {
      if (what == "write") {
        write(platform->files(), argv[i], codec);
        continue;
      }
      const auto said = read(platform->files(), argv[i], codec);
      const std::string name(batch::name_of(codec));
      std::printf("%s %s %s\n", argv[i], name.c_str(),
                  said.ok() ? said->c_str() : ("refused " + said.status().to_string()).c_str());
    }
  }
  return 0;
}
