// Descriptor: owns one file descriptor. (Linux form only.)
#pragma once

#include <unistd.h>
#include <cerrno>
#include <utility>

namespace hummer {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { reset(); }

  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }
  // Zero or errno of close.
  int reset() {
    if (number_ < 0) return 0;
    return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno;
  }

 private:
  int number_ = -1;
};

}  // namespace hummer
