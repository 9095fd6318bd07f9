// spilled_rocksdb: what spilled_state's keyed function does to its state, done with RocksDB.
//
//   spilled_rocksdb --dir DIR --memory-mib N [--keys N] [--records N] [--distribution zipf|uniform]
//
// For each record a Get of its key and a Put of the value behind it, of eight bytes each. Tuned as
// RocksDB's guide says for point look-ups that do not fit into memory: whole-key Bloom filters of
// ten bits, half of the memory for the block cache, which indexes and filters share, half for write
// buffers, no write-ahead log (a checkpoint is what survives), two background threads, no
// compression. Each key once first; the records behind that are measured. One line of JSON.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "spilled_keys.hpp"

namespace {

[[noreturn]] void fail(const rocksdb::Status& status) {
  std::fprintf(stderr, "spilled_rocksdb: %s\n", status.ToString().c_str());
  std::exit(1);
}
void check(const rocksdb::Status& status) {
  if (!status.ok()) fail(status);
}

rocksdb::Options options_of(std::size_t memory_bytes) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.IncreaseParallelism(2);
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = memory_bytes / 4;
  options.max_write_buffer_number = 2;
  options.level_compaction_dynamic_level_bytes = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(memory_bytes / 2);
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> arguments{{"--keys", "1000000"},
                                               {"--records", "4000000"},
                                               {"--distribution", "uniform"},
                                               {"--memory-mib", "64"}};
  for (int i = 1; i + 1 < argc; i += 2) arguments[argv[i]] = argv[i + 1];
  const spilled::Keys keys{.all = std::stoull(arguments["--keys"]),
                           .touched = std::stoull(arguments["--keys"]),
                           .zipf = arguments["--distribution"] == "zipf"};
  const std::uint64_t records = keys.all + std::stoull(arguments["--records"]);
  const std::string directory = arguments["--dir"];
  const rocksdb::Options options = options_of(std::stoull(arguments["--memory-mib"]) << 20);
  (void)rocksdb::DestroyDB(directory, options);
  rocksdb::DB* opened = nullptr;
  check(rocksdb::DB::Open(options, directory, &opened));
  const std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  auto begin = std::chrono::steady_clock::now();
  rocksdb::PinnableSlice found;
  std::uint64_t sum = 0;
  for (std::uint64_t index = 0; index < records; ++index) {
    if (index == keys.all) begin = std::chrono::steady_clock::now();
    const std::uint64_t key = keys.of(index);
    const rocksdb::Slice slice(reinterpret_cast<const char*>(&key), sizeof key);
    found.Reset();
    const rocksdb::Status got =
        db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), slice, &found);
    std::uint64_t value = 0;
    if (got.ok()) {
      std::memcpy(&value, found.data(), sizeof value);
    } else if (!got.IsNotFound()) {
      fail(got);
    }
    ++value;
    check(
        db->Put(write, slice, rocksdb::Slice(reinterpret_cast<const char*>(&value), sizeof value)));
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::unique_ptr<rocksdb::Iterator> all(db->NewIterator(rocksdb::ReadOptions()));
  for (all->SeekToFirst(); all->Valid(); all->Next()) {
    std::uint64_t value = 0;
    std::memcpy(&value, all->value().data(), sizeof value);
    sum += value;
  }
  check(all->status());
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"form\": \"rocksdb\", \"keys\": %llu, \"records\": %llu, \"seconds\": %.3f, \"right\": "
      "%s, \"most_resident_mib\": %ld}\n",
      static_cast<unsigned long long>(keys.all),
      static_cast<unsigned long long>(records - keys.all), seconds,
      sum == records ? "true" : "false", usage.ru_maxrss / 1024);
  return sum == records ? 0 : 1;
}
