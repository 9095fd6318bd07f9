#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "api/configuration_file.hpp"
#include "api/environment_impl.hpp"

namespace hummer {
namespace {

using Impl = StreamExecutionEnvironment::Impl;

// The engine's own options: one row each, read by the parser, --help and the suggestions.
struct Option {
  const char* name;
  const char* value;  // what --help calls its value; empty: a switch
  const char* description;
  Status (*apply)(std::string_view value, EnvironmentOptions& options);
};

template <typename Number>
Status parse_number(std::string_view text, Number least, Number most, Number& number) {
  Number parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size() || parsed < least || parsed > most) {
    return {ErrorCode::invalid_argument,
            fmt::format("'{}' is not a number between {} and {}", text, least, most)};
  }
  number = parsed;
  return {};
}

// "64M", "2GiB", "1048576": bytes.
Status parse_size(std::string_view text, std::size_t& bytes) {
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  std::string_view unit = text.substr(digits);
  if (unit.ends_with("iB")) unit.remove_suffix(2);
  constexpr std::string_view units = "KMGT";
  const std::size_t power = unit.empty() ? 0 : units.find(unit) + 1;
  std::size_t number = 0;
  if (unit.size() > 1 || (unit.size() == 1 && power == 0) ||
      !parse_number<std::size_t>(text.substr(0, digits), 0, std::size_t{1} << 20 << 20, number)
           .ok() ||
      number > (std::size_t{1} << 50) >> (10 * power)) {
    return {ErrorCode::invalid_argument,
            fmt::format("'{}' is not a size: say 512M, 4GiB or a number of bytes", text)};
  }
  bytes = number << (10 * power);
  return {};
}

const Option options_table[] = {
    {"config", "FILE",
     "TOML file; its table [job] holds options like these, below environment and flags",
     [](std::string_view, EnvironmentOptions&) { return Status(); }},  // read before all others
    {"parallelism", "N", "slots, and parallelism of operators that set none [one per processor]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_number(value, 1, 4096, o.parallelism);
     }},
    {"batch-records", "N", "records per batch [1024]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_number<std::uint32_t>(value, 1, 1u << 20, o.batch_records);
     }},
    {"channel-credits", "N", "batches under way per channel [8]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_number(value, 1, 65536, o.channel_credits);
     }},
    {"partial-state-bytes", "N",
     "partial aggregates empty themselves before they outgrow this [64 MiB]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_number<std::size_t>(value, 1, std::size_t{1} << 40, o.partial_state_bytes);
     }},
    {"memory-limit", "SIZE",
     "what the job may hold in memory, such as 512M; state beyond it goes to disk [no limit]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_size(value, o.memory_limit_bytes);
     }},
    {"spill-dir", "DIR", "where state goes that has no room in memory [/var/tmp]",
     [](std::string_view value, EnvironmentOptions& o) {
       o.spill_directory = value;
       return Status();
     }},
    {"window-strategy", "NAME",
     "how records reach windows: automatic, repartition or partial [automatic]",
     [](std::string_view value, EnvironmentOptions& o) {
       if (value == "automatic") {
         o.window_strategy = WindowStrategy::automatic;
       } else if (value == "repartition") {
         o.window_strategy = WindowStrategy::repartition;
       } else if (value == "partial") {
         o.window_strategy = WindowStrategy::partial;
       } else {
         return Status(ErrorCode::invalid_argument,
                       fmt::format("'{}' is not automatic, repartition or partial", value));
       }
       return Status();
     }},
    {"spin-us", "N", "how long an idle slot polls before it parks; -1: for ever [20]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_number<std::int64_t>(value, -1, 1'000'000'000, o.spin_us);
     }},
    {"pin-slots", "", "pin each slot to a processor",
     [](std::string_view, EnvironmentOptions& o) {
       o.pin_slots = true;
       return Status();
     }},
    {"no-chaining", "", "do not fuse operators",
     [](std::string_view, EnvironmentOptions& o) {
       o.chaining = false;
       return Status();
     }},
    {"process", "K", "which of --peers this process is, from 0 [0]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_number(value, 0, 65535, o.process);
     }},
    {"peers", "ADDRESSES", "host:port of every process of a fixed cluster, separated by commas",
     [](std::string_view value, EnvironmentOptions& o) {
       o.peers.clear();
       while (!value.empty()) {
         const std::size_t comma = value.find(',');
         o.peers.emplace_back(value.substr(0, comma));
         value = comma == value.npos ? "" : value.substr(comma + 1);
       }
       return Status();
     }},
    {"job-manager", "ADDRESS", "run on the cluster of this JobManager (host:port)",
     [](std::string_view value, EnvironmentOptions& o) {
       o.job_manager = value;
       return Status();
     }},
    {"token-file", "FILE", "file with the cluster's token; or the token itself in HUMMER_TOKEN",
     [](std::string_view value, EnvironmentOptions& o) {
       o.token_file = value;
       return Status();
     }},
    {"tls-ca", "FILE", "TLS: the certificates (PEM) of the CA that the cluster's are signed by",
     [](std::string_view value, EnvironmentOptions& o) {
       o.tls_ca = value;
       return Status();
     }},
    {"tls-certificate", "FILE", "TLS: the own certificate (PEM), where the cluster asks for one",
     [](std::string_view value, EnvironmentOptions& o) {
       o.tls_certificate = value;
       return Status();
     }},
    {"tls-key", "FILE", "TLS: its private key (PEM)",
     [](std::string_view value, EnvironmentOptions& o) {
       o.tls_key = value;
       return Status();
     }},
    {"tls-peer-name", "NAME", "TLS: the name in the others' certificates, if not their host's",
     [](std::string_view value, EnvironmentOptions& o) {
       o.tls_peer_name = value;
       return Status();
     }},
    {"detached", "", "on a cluster: print the job's number and leave it running",
     [](std::string_view, EnvironmentOptions& o) {
       o.detached = true;
       return Status();
     }},
    {"checkpoint-dir", "DIR", "where checkpoints are kept; without it none are taken",
     [](std::string_view value, EnvironmentOptions& o) {
       o.checkpoints.directory = value;
       return Status();
     }},
    {"checkpoint-interval-ms", "N", "time between two checkpoints; 0: none by time [10000]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_number<std::int64_t>(value, 0, 86'400'000, o.checkpoints.interval_ms);
     }},
    {"checkpoint-timeout-ms", "N", "then a checkpoint is given up [600000]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_number<std::int64_t>(value, 1, 86'400'000, o.checkpoints.timeout_ms);
     }},
    {"checkpoints-retained", "N", "complete checkpoints that are kept [1]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_number<std::uint32_t>(value, 1, 1000, o.checkpoints.retained);
     }},
    {"keep-checkpoints", "", "also those of a job that has finished",
     [](std::string_view, EnvironmentOptions& o) {
       o.checkpoints.keep_at_end = true;
       return Status();
     }},
    {"at-least-once", "", "inputs do not wait for each other at a barrier",
     [](std::string_view, EnvironmentOptions& o) {
       o.checkpoints.guarantee = Guarantee::at_least_once;
       return Status();
     }},
    {"checkpoint-unaligned", "", "barriers overtake records that wait, which are saved too",
     [](std::string_view, EnvironmentOptions& o) {
       o.checkpoints.unaligned = true;
       return Status();
     }},
    {"alignment-timeout-ms", "N", "with --checkpoint-unaligned: overtake only after this [0]",
     [](std::string_view value, EnvironmentOptions& o) {
       return parse_number<std::int64_t>(value, 0, 86'400'000, o.checkpoints.alignment_timeout_ms);
     }},
    {"restore", "PATH", "begin with the state of this checkpoint's directory, or 'latest'",
     [](std::string_view value, EnvironmentOptions& o) {
       o.checkpoints.restore = value;
       return Status();
     }},
    {"allow-dropped-state", "", "restore also when operators with state are gone",
     [](std::string_view, EnvironmentOptions& o) {
       o.checkpoints.allow_dropped_state = true;
       return Status();
     }},
    {"explain", "FORMAT", "print the job's graphs as text, json or dot, and run nothing",
     [](std::string_view value, EnvironmentOptions& o) {
       if (value != "text" && value != "json" && value != "dot") {
         return Status(ErrorCode::invalid_argument,
                       fmt::format("'{}' is not one of text, json, dot", value));
       }
       o.explain = value;
       return Status();
     }},
    {"quiet", "", "no progress and no summary",
     [](std::string_view, EnvironmentOptions& o) {
       o.quiet = true;
       return Status();
     }},
    {"progress-per-vertex", "", "progress and summary with a line per vertex",
     [](std::string_view, EnvironmentOptions& o) {
       o.progress_per_vertex = true;
       return Status();
     }},
};

const Option* find_option(std::string_view name) {
  for (const Option& option : options_table) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

constexpr std::int64_t interval_not_given = -1;
constexpr std::int64_t usual_checkpoint_interval_ms = 10'000;

std::string environment_variable(std::string_view option) {
  std::string variable = "HUMMER_" + std::string(option);
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
  return variable;
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const Option& option : options_table) names.emplace_back(option.name);
  return names;
}

void set_usage(Impl& impl, Status status) {
  if (impl.usage.ok()) impl.usage = std::move(status);
}

void apply_environment_variables(EnvironmentOptions& options, Impl& impl) {
  // No option: everyone can read a command line.
  if (const char* token = std::getenv("HUMMER_TOKEN"); token != nullptr) options.token = token;
  for (const Option& option : options_table) {
    const std::string variable = environment_variable(option.name);
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr) continue;
    if (*option.value == '\0' && std::string_view(value) == "0") continue;
    if (Status status = option.apply(value, options); !status.ok()) {
      set_usage(impl, status.with_context(variable));
    }
  }
}

Status apply_entry(const ConfigurationEntry& entry, EnvironmentOptions& options) {
  const Option* const option = find_option(entry.key);
  if (option == nullptr) {
    const std::string nearest = nearest_name(entry.key, option_names());
    return {ErrorCode::unknown_option,
            fmt::format("unknown key '{}' in [job]{}", entry.key,
                        nearest.empty() ? "" : ", did you mean '" + nearest + "'?")};
  }
  const bool is_switch = *option->value == '\0';
  if (is_switch != entry.is_switch || entry.values.size() != 1) {
    return {ErrorCode::invalid_configuration,
            fmt::format("'{}' must be {}", entry.key, is_switch ? "true or false" : "one value")};
  }
  if (is_switch && entry.values.front() == "false") return {};
  return option->apply(entry.values.front(), options).with_context("'" + entry.key + "'");
}

void apply_configuration(EnvironmentOptions& options, Impl& impl, std::string_view path) {
  const Result<Configuration> configuration =
      load_configuration(make_linux_platform()->files(), std::string(path));
  if (!configuration.ok()) return set_usage(impl, configuration.status());
  for (const ConfigurationEntry& entry : configuration->entries) {
    if (entry.table != "job") continue;
    const Status status = apply_entry(entry, options);
    if (!status.ok()) set_usage(impl, status.with_context(configuration->place(entry)));
  }
}

// --config FILE among the words, else HUMMER_CONFIG; empty: no file.
std::string_view configuration_file(int argc, const char* const* argv) {
  constexpr std::string_view option = "--config";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == option && i + 1 < argc) return argv[i + 1];
    if (word.starts_with("--config=")) return word.substr(option.size() + 1);
  }
  const char* const path = std::getenv("HUMMER_CONFIG");
  return path == nullptr ? "" : path;
}

}  // namespace

void parse_command_line(int argc, const char* const* argv, EnvironmentOptions& options, Impl& impl,
                        bool environment_variables) {
  impl.program = argc > 0 ? argv[0] : "job";
  // Who names a directory and no interval gets the usual one; a 0 is an interval too.
  CheckpointOptions& checkpoints = options.checkpoints;
  if (!checkpoints.enabled() && checkpoints.interval_ms == 0) {
    checkpoints.interval_ms = interval_not_given;
  }
  if (environment_variables) {
    const std::string_view file = configuration_file(argc, argv);
    if (!file.empty()) apply_configuration(options, impl, file);
    apply_environment_variables(options, impl);
  }
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "-h") word = "--help";
    if (!word.starts_with("--") || word.size() == 2) {
      set_usage(impl, {ErrorCode::invalid_argument,
                       fmt::format("'{}' is no option: options look like --name VALUE", word)});
      continue;
    }
    word.remove_prefix(2);
    if (word == "help") {
      impl.help = true;
      continue;
    }
    std::string_view value;
    bool has_value = false;
    if (const std::size_t equals = word.find('='); equals != word.npos) {
      value = word.substr(equals + 1);
      word = word.substr(0, equals);
      has_value = true;
    }
    const Option* option = find_option(word);
    const bool wants_value = option == nullptr || *option->value != '\0';
    if (!has_value && wants_value && i + 1 < argc &&
        (argv[i + 1][0] != '-' || argv[i + 1][1] != '-')) {
      value = argv[++i];
      has_value = true;
    }
    if (!has_value && word == "explain") {
      value = "text";
      has_value = true;
    }
    if (option == nullptr) {
      impl.arguments[std::string(word)] = std::string(value);
    } else if (!wants_value && has_value) {
      set_usage(impl, {ErrorCode::invalid_argument,
                       fmt::format("--{} takes no value: leave out '={}'", word, value)});
    } else if (wants_value && !has_value) {
      set_usage(impl, {ErrorCode::invalid_argument,
                       fmt::format("--{} needs a value: {}", word, option->value)});
    } else if (Status status = option->apply(value, options); !status.ok()) {
      set_usage(impl, status.with_context(fmt::format("--{}", word)));
    }
  }
  if (checkpoints.interval_ms == interval_not_given) {
    checkpoints.interval_ms = checkpoints.enabled() ? usual_checkpoint_interval_ms : 0;
  }
}

std::string help_text(const Impl& impl) {
  std::string text = fmt::format("usage: {} [--name VALUE]...\n", impl.program);
  if (!impl.asked.empty()) {
    text += "\nArguments of this job:\n";
    for (const auto& [name, description] : impl.asked) {
      text += fmt::format("  --{:<22} {}\n", name, description);
    }
  }
  text += "\nOptions of the engine (also as environment variables, such as HUMMER_PARALLELISM):\n";
  for (const Option& option : options_table) {
    const std::string head = std::string(option.name) + " " + option.value;
    text += fmt::format("  --{:<22} {}\n", head, option.description);
  }
  text += fmt::format("  --{:<22} {}\n", "help", "this text");
  text += "\nExit code: 0 success, 1 the job failed, 2 wrong usage, 130 cancelled.\n";
  return text;
}

Status check_arguments(const Impl& impl) {
  if (!impl.usage.ok()) return impl.usage;
  for (const auto& argument : impl.arguments) {
    const std::string& name = argument.first;
    if (impl.asked.contains(name)) continue;
    std::vector<std::string> known = option_names();
    for (const auto& [asked, description] : impl.asked) known.insert(known.begin(), asked);
    const std::string nearest = nearest_name(name, known);
    return {ErrorCode::unknown_option,
            fmt::format("unknown option --{}{}; --help lists them", name,
                        nearest.empty() ? "" : ", did you mean --" + nearest + "?")};
  }
  return {};
}

}  // namespace hummer
