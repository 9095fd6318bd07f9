// ShuffleStore: the shuffle files of a process.
//
//   store.create(key, partitions)  →  a draft that a task fills
//   store.publish(draft)           from now on others find it
//   store.open(key)                who reads here, and who serves others (fetch_server.hpp)
//   store.keep_only(parts)         what nobody needs any more is removed
//
// They lie in a directory of their own below the spill directory, which is made with the first of
// them and removed with the store. A file has another name until it is whole. What a process that
// was killed has left behind is removed by the next one that makes a directory beside it: each
// holds a lock on its own (Files::lock) for as long as it lives. (Where the file system has no
// locks nobody removes anything of others.)
//
// Thread: any. Ownership: outlives its drafts; files that are open stay readable.
// Errors: those of the disk; not_found: nobody has published it here, or it was removed.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "net/frame.hpp"
#include "platform/log.hpp"
#include "platform/platform.hpp"
#include "shuffle/shuffle_file.hpp"

namespace hummer {

// What has one fate: the files of one attempt of one region.
struct ShuffleAttempt {
  std::uint64_t job = 0;
  std::uint32_t attempt = 0;
  std::uint32_t region = 0;
  friend auto operator<=>(const ShuffleAttempt&, const ShuffleAttempt&) = default;
};

class ShuffleStore {
 public:
  // `directory`: the spill directory.
  ShuffleStore(Platform& platform, std::string directory, Logger log);
  ~ShuffleStore();
  ShuffleStore(const ShuffleStore&) = delete;
  ShuffleStore& operator=(const ShuffleStore&) = delete;

  // A file that is being written. Destroying it removes what is not published.
  class Draft {
   public:
    Draft(Files& files, ShuffleKey key, std::string path, std::unique_ptr<WritableFile> file,
          std::uint32_t partitions);
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    ShuffleFileWriter& writer() { return writer_; }

   private:
    friend class ShuffleStore;
    Files& files_;
    const ShuffleKey key_;
    const std::string path_;  // when it is whole
    bool published_ = false;
    ShuffleFileWriter writer_;
  };

  Result<std::unique_ptr<Draft>> create(const ShuffleKey& key, std::uint32_t partitions);
  // Finishes it. A failure leaves nothing.
  Status publish(Draft& draft);
  Result<std::shared_ptr<const ShuffleFile>> open(const ShuffleKey& key);
  void keep_only(const std::set<ShuffleAttempt>& attempts);
  // Of processes that are gone. Also done before the first file is made.
  void remove_left_overs();

  // By edge, in all files of the attempt.
  std::map<std::uint32_t, std::uint64_t> written(const ShuffleAttempt& attempt) const;

  struct Usage {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
  };
  Usage usage() const;

 private:
  struct Published {
    std::string path;
    std::uint64_t bytes = 0;
    std::weak_ptr<const ShuffleFile> file;
  };

  Result<std::string> own_directory();
  Status make_directory();
  void remove_all_in(const std::string& directory);

  Platform& platform_;
  const std::string spill_directory_;
  const Logger log_;
  mutable std::mutex mutex_;
  std::string directory_;  // empty: none made yet
  std::unique_ptr<FileLock> lock_;
  std::map<ShuffleKey, Published> published_;
};

}  // namespace hummer
