// For tests of checkpoints: counts numbers by their key and writes each count, exactly once, to
// files. Whoever reads them finds, of each key, 1, 2, … as far as the input goes.
//
//   s3_counting --output DIR --keys 1000 --numbers 100000 --rate 20000 --checkpoint-dir s3://…
#include <cstdint>
#include <optional>
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
  const std::uint64_t keys = std::stoull(env.argument_or("keys", "1000"));
  const std::uint64_t numbers = std::stoull(env.argument_or("numbers", "100000"));
  const double rate = std::stod(env.argument_or("rate", "0", "numbers a second; 0: all at once"));
  const std::string output = env.argument("output");
  env.generate([keys](std::uint64_t i) { return i % keys; },
               {.count = numbers,
                .records_per_second = rate > 0 ? std::optional(rate) : std::nullopt,
                .splits = 8})
      .uid("numbers")
      .key_by(hummer::identity)
      .process(Counting{})
      .uid("counts")
      .map([](const Counted& counted) {
        return std::to_string(counted.key) + " " + std::to_string(counted.count);
      })
      .write_file(output)
      .uid("output");
  env.execute("counting");
}

}  // namespace

HUMMER_JOB(counting)
