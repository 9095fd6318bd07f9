// One channel, whose receiver demands every byte: a source in a slot of its own makes --count texts
// from their numbers, of up to --longest bytes, and each thousandth up to a hundred times as long,
// so that it needs several buffers. The function behind the edge (--transport, --credits,
// --buffer-bytes) is in another slot, makes the same texts, and fails the job at the first that is
// not there in its place. It writes how far it is, each --lines texts and at the end, to --output:
// texts, bytes, and a checksum.
#include <hummer/hummer.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "edge_arguments.hpp"
#include "windows/workload.hpp"

namespace {

using windows::mixed;

struct TextOfNumber {
  std::uint64_t longest;
  std::string operator()(std::uint64_t number) const {
    const std::uint64_t most = number % 1000 == 999 ? 100 * longest : longest;
    std::string text(1 + mixed(number) % most, '\0');
    for (std::size_t at = 0; at < text.size(); at += sizeof(std::uint64_t)) {
      const std::uint64_t word = mixed(number ^ at << 40);
      std::memcpy(text.data() + at, &word, std::min(sizeof word, text.size() - at));
    }
    return text;
  }
};

struct Received {
  std::uint64_t texts = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

struct DemandEachByte {
  TextOfNumber text_of;
  std::uint64_t lines;
  Received received;

  void process(std::string_view text, hummer::ProcessOutput<Received>& out) {
    const std::string expected = text_of(received.texts);
    if (text != expected) throw std::runtime_error(difference(text, expected));
    for (std::size_t at = 0; at < text.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, std::min(sizeof word, text.size() - at));
      received.checksum = mixed(received.checksum ^ word);
    }
    ++received.texts;
    received.bytes += text.size();
    if (received.texts % lines == 0) out.emit(received);
  }
  void end(hummer::ProcessOutput<Received>& out) { out.emit(received); }

  std::string difference(std::string_view text, const std::string& expected) const {
    std::size_t at = 0;
    while (at < text.size() && at < expected.size() && text[at] == expected[at]) ++at;
    return "text " + std::to_string(received.texts) + " has " + std::to_string(text.size()) +
           " bytes, not " + std::to_string(expected.size()) + ", and differs from byte " +
           std::to_string(at) + " on";
  }
};

}  // namespace

void numbered_texts(hummer::StreamExecutionEnvironment& env) {
  const std::uint64_t count = std::stoull(env.argument_or("count", "10000", "texts"));
  const TextOfNumber text_of{std::stoull(env.argument_or("longest", "4000", "bytes"))};
  const std::uint64_t lines = std::stoull(env.argument_or("lines", "100", "texts per line"));
  env.generate([](std::uint64_t number) { return number; }, {.count = count})
      .parallelism(1)
      .resource_group("front")
      .map(text_of)
      .parallelism(1)
      .resource_group("front")
      .network(edge_of_arguments(env))
      .process(hummer::rebuildable(DemandEachByte{text_of, lines, {}}, text_of.longest, lines))
      .parallelism(1)
      .write_file(env.argument("output"))
      .parallelism(1);
  env.execute("NumberedTexts");
}

HUMMER_JOB(numbered_texts)
