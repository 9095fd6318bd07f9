// For tests of checkpoints: counts numbers by their key and writes each count, exactly once, to
// files. Whoever reads them finds, of each key, 1, 2, … as far as the input goes.
//
//   s3_counting --output DIR --keys 1000 --numbers 100000 [--per-second N] --checkpoint-dir s3://…
#include <cstdint>
#include <string>

#include <hummer/hummer.hpp>

namespace {

struct Counted {
  std::uint64_t key;
  std::uint64_t count;
};

struct Counting {
  hummer::ValueState<std::uint64_t> seen{"seen"};

  void process(std::uint64_t key, hummer::KeyedOutput<Counted>& out) {
    const std::uint64_t count = seen.get_or(0) + 1;
    seen.set(count);
    out.emit(Counted{key, count});
  }
};

void counting(hummer::StreamExecutionEnvironment& env) {
}

}  // namespace

HUMMER_JOB(counting)
