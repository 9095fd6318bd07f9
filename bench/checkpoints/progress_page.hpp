// How far a job is, for one who measures it from outside: a file of eight bytes, mapped by all its
// tasks and processes, to which each adds what it has made.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace checkpoints {

class ProgressPage {
 public:
  // "": nothing is told. The file exists and has eight bytes; it stays mapped.
  explicit ProgressPage(const std::string& path) {
    if (path.empty()) return;
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) throw std::runtime_error("cannot open '" + path + "'");
    void* const page =
        ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (page == MAP_FAILED) throw std::runtime_error("cannot map '" + path + "'");
    page_ = static_cast<std::atomic<std::uint64_t>*>(page);
  }

  // For every record, by its number.
  void made(std::uint64_t index) const {
    if (index % step == 0 && page_ != nullptr) page_->fetch_add(step, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t step = 4096;
  std::atomic<std::uint64_t>* page_ = nullptr;
};

}  // namespace checkpoints
