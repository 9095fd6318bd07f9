// memory_per_key_rocksdb --row value|join|timer --keys N --dir DIR
//
// The rows of memory_per_key as entries of RocksDB, laid out as Flink's backend does, without its
// key group: a value by its key; a record of a join by window and key; a timer by time and key,
// without a value. Write buffers of 64 MiB and a block cache of 64 MiB bound what is in memory,
// with filters and indexes in the cache, no write-ahead log and no compression. Filled, it stands
// still to be measured, as memory_per_key does; the bytes on disk are those after a full
// compaction, the least that there can be. Then every entry is read back.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "rows.hpp"

namespace memory_per_key {
namespace {

constexpr std::size_t part_bytes = std::size_t{64} << 20;

void check(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "memory_per_key_rocksdb: %s\n", status.ToString().c_str());
  std::exit(1);
}

rocksdb::Options options() {
  rocksdb::Options all;
  all.create_if_missing = true;
  all.IncreaseParallelism(2);
  all.compression = rocksdb::kNoCompression;
  all.write_buffer_size = part_bytes / 2;
  all.max_write_buffer_number = 2;
  all.level_compaction_dynamic_level_bytes = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(part_bytes);
  table.cache_index_and_filter_blocks = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  all.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return all;
}

// The greatest digit first, so that entries lie in order.
void append(std::string& to, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) to.push_back(static_cast<char>(number >> shift));
}
std::uint64_t number_at(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

class Database {
 public:
  Database(const std::string& directory, std::string row) : row_(std::move(row)) {
    const rocksdb::Options all = options();
    (void)rocksdb::DestroyDB(directory, all);
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(all, directory, &opened));
    db_.reset(opened);
    write_.disableWAL = true;
  }

  void fill(std::uint64_t key) {
    if (row_ == "value") {
      put(name_of(key), value_of(1));
    } else if (row_ == "join") {
      const Kept record = Kept::of(key);
      put(name_of(key), rocksdb::Slice(record.payload.data(), record.payload.size()));
    } else {
      put(name_of(key), {});
    }
  }

  std::uint64_t compacted_bytes() {
    check(db_->Flush(rocksdb::FlushOptions()));
    check(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
    std::uint64_t bytes = 0;
    if (!db_->GetIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize, &bytes)) std::exit(1);
    return bytes;
  }

  // Every entry, in their order, as the second phase of memory_per_key would find it.
  void use_all(stateful::Checksum& sum) {
    const std::unique_ptr<rocksdb::Iterator> all(db_->NewIterator(rocksdb::ReadOptions()));
    for (all->SeekToFirst(); all->Valid(); all->Next()) {
      const std::string_view name(all->key().data(), all->key().size());
      const std::string_view value(all->value().data(), all->value().size());
      if (row_ == "value") {
        sum.add(number_at(name), number_at(value) + 1);
      } else if (row_ == "timer") {
        sum.add(number_at(name.substr(8)), number_at(name));
      } else {
        std::uint64_t letters = 0;
        std::memcpy(&letters, value.data(), sizeof letters);
        sum.add(number_at(name.substr(8)), letters);
      }
    }
    check(all->status());
  }

 private:
  const std::string& name_of(std::uint64_t key) {
    name_.clear();
    if (row_ == "join") append(name_, 0);
    if (row_ == "timer") append(name_, static_cast<std::uint64_t>(timer_of(key)));
    append(name_, key);
    return name_;
  }
  const std::string& value_of(std::uint64_t count) {
    value_.clear();
    append(value_, count);
    return value_;
  }
  void put(const rocksdb::Slice& name, const rocksdb::Slice& value) {
    check(db_->Put(write_, name, value));
  }

  const std::string row_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_;
  std::string name_, value_;
};

}  // namespace
}  // namespace memory_per_key

int main(int argc, char** argv) {
  using namespace memory_per_key;
  std::map<std::string, std::string> arguments{{"--row", "value"}, {"--keys", "1000000"}};
  for (int i = 1; i + 1 < argc; i += 2) arguments[argv[i]] = argv[i + 1];
  const std::string row = arguments["--row"];
  const bool known = row == "value" || row == "join" || row == "timer";
  if (!known || arguments["--dir"].empty()) {
    std::fprintf(stderr, "memory_per_key_rocksdb: wants --row value|join|timer and --dir\n");
    return 2;
  }
  const std::uint64_t keys = std::stoull(arguments["--keys"]);
  const stateful::KeyOfIndex key_of = key_of_index(std::max<std::uint64_t>(keys, 1));
  Database database(arguments["--dir"], row);
  for (std::uint64_t index = 0; index < keys; ++index) database.fill(key_of(index));
  wait_to_be_measured();
  const std::uint64_t disk_bytes = database.compacted_bytes();
  stateful::Checksum sum;
  database.use_all(sum);
  SharedChecksum total;
  total.add(sum);
  report("rocksdb", row, keys, disk_bytes, total);
  return 0;
}
