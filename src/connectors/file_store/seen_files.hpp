// SeenFiles: which files were taken, so that each is taken once.
//
// A file is known by its path, with the size and time that it had. Names are kept for the newest
// `remembered` files, in the order of FileOrder; older ones are forgotten, a tenth at a time, and
// what is not behind the last of those (the horizon) counts as taken.
//
// State: all of it, or what has come since the last snapshot (a delta). Pure. Thread: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <hummer/bytes.hpp>
#include <hummer/files.hpp>

namespace hummer {

class SeenFiles {
 public:
  enum class State : std::uint8_t { unknown, taken, changed };

  SeenFiles(FileOrder order, std::size_t remembered) : order_(order), remembered_(remembered) {}

  State find(const StoredFile& file) const;
  // Taken, or taken note of as it is now.
  void add(const StoredFile& file);
  std::size_t size() const { return files_.size(); }
  bool comes_before(const StoredFile& a, const StoredFile& b) const;

  // Whether it is known what has come since the last snapshot. Without checkpoints nobody asks.
  bool can_be_delta() const { return !has_lost_new_; }
  void snapshot(bool delta, ByteWriter& out);
  [[nodiscard]] bool restore(ByteReader& in);

 private:
  struct Known {
    std::uint64_t size_bytes = 0;
    std::int64_t modified_ms = 0;
  };

  void forget_oldest();
  static void put(const std::string& path, const Known& known, ByteWriter& out);

  const FileOrder order_;
  const std::size_t remembered_;
  std::map<std::string, Known> files_;
  std::vector<std::string> new_;  // paths of those that the last snapshot does not have
  bool has_lost_new_ = false;
  // The last one that was forgotten; an empty path: none was.
  StoredFile horizon_;
};

}  // namespace hummer
