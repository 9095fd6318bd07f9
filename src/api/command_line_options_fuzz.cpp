// Any words as a command line: no crash, every option within its limits or a
// message that says what is wrong, and the same outcome twice.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "api/environment_impl.hpp"

namespace {

using namespace hummer;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

// Words are separated by NUL bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> words{"job"};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());

  std::string first;
  for (int round = 0; round < 2; ++round) {
    EnvironmentOptions options;
    StreamExecutionEnvironment::Impl impl;
    parse_command_line(static_cast<int>(arguments.size()), arguments.data(), options, impl);
    impl.asked.emplace("input", "the text to read");
    const Status status = check_arguments(impl);
    require(status.ok() || !status.message().empty());
    require(impl.usage.ok() || !status.ok());
    require(options.parallelism >= 0 && options.parallelism <= 4096);
    require(options.batch_records >= 1 && options.batch_records <= 1u << 20);
    require(options.channel_credits >= 1 && options.channel_credits <= 65536);
    require(options.spin_us >= -1 && options.spin_us <= 1'000'000'000);
    require(options.memory_limit_bytes == memory_limit_from_environment ||
            options.memory_limit_bytes <= std::size_t{1} << 50);
    require(options.explain.empty() || options.explain == "text" || options.explain == "json" ||
            options.explain == "dot");
    require(help_text(impl).find("--parallelism") != std::string::npos);
    const std::string outcome = status.to_string() + help_text(impl);
    if (round == 0) first = outcome;
    require(outcome == first);
  }
  return 0;
}
