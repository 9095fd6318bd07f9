// A folder of the machine's own disk for one test: made when this is, removed with all in it.
//
// Its name is drawn by the system. An address or a process number is not enough: tests run side by
// side, and processes without randomized addresses have the same ones.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <hummer/status.hpp>

namespace hummer {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hummer_test_XXXXXX").string();
    HUMMER_ASSERT(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace hummer
