// The table of options against the settings that it is read into: no option without effect, no
// member without an option.
#include <gtest/gtest.h>
#include <boost/pfr.hpp>
#include <map>
#include <set>
#include <type_traits>

#include "api/options/option_programs.hpp"
#include "base/nearest_name.hpp"

namespace hummer::options_test {
namespace {

// Every member as a text, those of members too, in order.
template <typename T>
void append_leaves(const T& value, std::vector<std::string>& leaves) {
  if constexpr (std::is_same_v<T, std::string>) {
    leaves.push_back(value);
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    leaves.emplace_back();
    for (const std::string& each : value) leaves.back() += each + "\n";
  } else if constexpr (std::is_pointer_v<T>) {
    leaves.push_back(value == nullptr ? "null" : "set");
  } else if constexpr (std::is_enum_v<T>) {
    leaves.push_back(std::to_string(static_cast<int>(value)));
  } else if constexpr (std::is_arithmetic_v<T>) {
    leaves.push_back(std::to_string(value));
  } else {
    boost::pfr::for_each_field(value, [&](const auto& member) { append_leaves(member, leaves); });
  }
}

template <typename T>
std::vector<std::string> leaves_of(const T& value) {
  std::vector<std::string> leaves;
  append_leaves(value, leaves);
  return leaves;
}

// A value that the option takes and that is not its default.
std::string other_value(const Option& option, const OptionValue& present) {
  switch (option.type) {
    case OptionType::on_off: return present.on ? "false" : "true";
    case OptionType::integer:
    case OptionType::size:
      return present.integer == static_cast<std::int64_t>(option.least)
                 ? std::to_string(static_cast<std::int64_t>(option.least) + 1)
                 : std::to_string(static_cast<std::int64_t>(option.least));
    case OptionType::decimal: return std::to_string((option.least + option.most) / 2);
    case OptionType::choice:
      return std::string(option_text(option, present) == option.choices.back()
                             ? option.choices.front()
                             : option.choices.back());
    default: return "other:1";
  }
}

// By program and option: the members that change with it.
template <typename Settings>
std::map<std::string, std::set<std::size_t>> effects() {
  std::map<std::string, std::set<std::size_t>> effects;
  const OptionProgram& program = program_of<Settings>();
  const std::vector<std::string> before = leaves_of(Settings());
  for (const Option& option : program.options) {
    if (option.load == nullptr) continue;
    OptionSources sources;
    const Settings defaults;
    const std::string text = other_value(option, option.load(option, &defaults));
    sources.variables.push_back({variable_of(option), text});
    Settings settings;
    const auto read = read_settings(sources, settings);
    EXPECT_TRUE(read.ok()) << read.status().to_string();
    const std::vector<std::string> after = leaves_of(settings);
    std::set<std::size_t>& changed = effects[std::string(option.name)];
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] != after[i]) changed.insert(i);
    }
  }
  return effects;
}

// `without_option`: how many members are no option's, on purpose.
template <typename Settings>
void check_program(std::size_t without_option) {
  const auto found = effects<Settings>();
  std::set<std::size_t> reached;
  for (const auto& [name, changed] : found) {
    EXPECT_FALSE(changed.empty()) << "--" << name << " changes nothing";
    reached.insert(changed.begin(), changed.end());
  }
  EXPECT_EQ(reached.size() + without_option, leaves_of(Settings()).size())
      << "a member of " << program_of<Settings>().name << "'s settings has no option";
}

TEST(Options, EachIsReadAndEachMemberHasOne) {
  check_program<JobManagerSettings>(0);
  check_program<TaskManagerSettings>(1);  // tls.verify_peer, always
  check_program<LocalSettings>(0);
  check_program<ClientSettings>(1);      // tls.verify_peer
  check_program<EnvironmentOptions>(2);  // platform, bypass
}

TEST(Options, NoTwoOfAProgramSetTheSameMember) {
  std::map<std::size_t, std::string> owners;
  for (const auto& [name, changed] : effects<EnvironmentOptions>()) {
    if (name == "checkpoint-dir") continue;  // brings the default interval
    for (const std::size_t member : changed) {
      EXPECT_TRUE(owners.emplace(member, name).second) << owners[member] << " and " << name;
    }
  }
}

TEST(Options, AVariableThatNothingReadsIsRefusedOnlyByWhoIsStrict) {
  OptionSources sources;
  sources.variables = {{"HUMMER_PARALLELISM", "3"}, {"HUMMER_PARALELISM", "4"}};
  EnvironmentOptions settings;
  EXPECT_TRUE(read_settings(sources, settings).ok());
  EXPECT_EQ(settings.parallelism, 3);
  sources.variables.push_back({"HUMMER_STRICT_VARIABLES", "1"});
  const std::string refusal =
      "E1002: nothing reads the variable HUMMER_PARALELISM, did you mean HUMMER_PARALLELISM?";
  EXPECT_EQ(read_settings(sources, settings).status().to_string(), refusal);
  JobManagerSettings manager;
  EXPECT_EQ(read_settings(sources, manager).status().to_string(), refusal);
  sources.flags = {{"strict-variables", "false"}};
  EXPECT_TRUE(read_settings(sources, settings).ok());
}

// One letter lost, and two neighbours swapped, at each place.
std::vector<std::string> misspellings(const std::string& name) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < name.size(); ++i) {
    all.push_back(name.substr(0, i) + name.substr(i + 1));
    if (i + 1 < name.size() && name[i] != name[i + 1]) {
      all.push_back(name);
      std::swap(all.back()[i], all.back()[i + 1]);
    }
  }
  return all;
}

TEST(Options, EveryMisspeltKeyVariableAndTableIsNamedWithTheOneThatIsMeant) {
  std::size_t count = 0;
  for (const OptionProgram& program : option_programs()) {
    for (const Option& option : program.options) {
      for (const std::string& wrong : misspellings(std::string(option.name))) {
        if (option.in_files && program.find(wrong) == nullptr) {
          OptionSources sources;
          sources.file = {.file = "h.toml",
                          .tables = {{std::string(program.name), 1}},
                          .entries = {{.table = std::string(program.name),
                                       .key = wrong,
                                       .values = {{.text = "x"}},
                                       .line = 7}}};
          const Status status = check_file(option_programs(), sources.file);
          EXPECT_EQ(status.to_string(), "E1001: h.toml:7: nothing reads '" + wrong + "' in [" +
                                            std::string(program.name) + "], did you mean '" +
                                            std::string(option.name) + "'?");
          ++count;
        }
      }
      for (const std::string& wrong : misspellings(variable_of(option).substr(7))) {
        const EnvironmentVariable variable{"HUMMER_" + wrong, "x"};
        EXPECT_EQ(unread_variables(option_programs(), std::span(&variable, 1)),
                  std::vector<std::string>{"nothing reads the variable HUMMER_" + wrong +
                                           ", did you mean " + variable_of(option) + "?"});
        ++count;
      }
    }
    for (const std::string& wrong : misspellings(std::string(program.name))) {
      OptionSources sources;
      sources.file = {.file = "h.toml", .tables = {{wrong, 2}}, .entries = {}};
      EXPECT_EQ(check_file(option_programs(), sources.file).to_string(),
                "E1001: h.toml:2: nothing reads the table [" + wrong + "], did you mean [" +
                    std::string(program.name) + "]?");
    }
  }
  EXPECT_GT(count, 1000u);
}

TEST(Options, LaterSourcesWinAndSayWhereFrom) {
  const auto file = parse_configuration(
      "[cluster]\njob-manager = \"a:1\"\ntls-ca = \"shared.pem\"\n"
      "[taskmanager]\ntls-ca = \"own.pem\"\nslots = 2\ndata-address = [\"x:0\", \"y:0\"]\n",
      "h.toml");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  OptionSources sources;
  sources.file = *file;
  sources.variables = {{"HUMMER_SLOTS", "3"}, {"HUMMER_TOKEN", "secret"}, {"HUMMER_ID", ""}};
  const auto from = [&](std::string_view name, std::string_view text, std::string_view place) {
    TaskManagerSettings settings;
    const auto all = read_settings(sources, settings);
    ASSERT_TRUE(all.ok()) << all.status().to_string();
    for (const EffectiveOption& each : *all) {
      if (each.option->name != name) continue;
      EXPECT_EQ(each.text, text) << name;
      EXPECT_EQ(each.from, place) << name;
    }
  };
  from("job-manager", "a:1", "h.toml:2");
  from("tls-ca", "own.pem", "h.toml:5");
  from("data-address", "x:0,y:0", "h.toml:7");
  from("slots", "3", "HUMMER_SLOTS");
  from("token", "***", "HUMMER_TOKEN");
  from("id", "drawn", "default");
  sources.flags = {
      {"slots", "4"}, {"slots", "5"}, {"data-address", "z:0"}, {"data-address", "w:0"}};
  from("slots", "5", "--slots");
  from("data-address", "z:0,w:0", "--data-address");

  TaskManagerSettings settings;
  ASSERT_TRUE(read_settings(sources, settings).ok());
  EXPECT_EQ(settings.slots, 5);
  EXPECT_EQ(settings.credentials.token, "secret");
  ClientSettings client;
  sources.flags.clear();
  ASSERT_TRUE(read_settings(sources, client).ok());
  EXPECT_EQ(client.credentials.tls.ca_file, "shared.pem");
}

std::string refusal(std::string_view line) {
  OptionSources sources;
  const auto file = parse_configuration(std::string(line) + "\n", "h.toml");
  if (!file.ok()) return file.status().to_string();
  sources.file = *file;
  return check_file(option_programs(), sources.file).to_string();
}

TEST(Options, WrongValuesNameThePlaceAndWhatIsExpected) {
  EXPECT_EQ(refusal("[job]\nparallelism = \"4\""),
            "E1001: h.toml:2: 'parallelism': expected a whole number from 1 to 4096 (slots), not a "
            "text in quotes");
  EXPECT_EQ(refusal("[job]\nparallelism = 0"),
            "E1001: h.toml:2: 'parallelism': expected a whole number from 1 to 4096 (slots), not "
            "'0'");
  EXPECT_EQ(refusal("[job]\nquiet = 1"),
            "E1001: h.toml:2: 'quiet': expected true or false, not '1'");
  EXPECT_EQ(refusal("[job]\nmemory-limit = \"4GB\""),
            "E1001: h.toml:2: 'memory-limit': expected a size such as 512M, 4GiB or a number of "
            "bytes, at most 1024TiB, not '4GB'");
  EXPECT_EQ(
      refusal("[job]\nwindow-strategy = \"none\""),
      "E1001: h.toml:2: 'window-strategy': expected automatic, repartition or late_merge, not "
      "'none'");
  EXPECT_EQ(refusal("[cluster]\njob-manager = \"here\""),
            "E1001: h.toml:2: 'job-manager': expected HOST:PORT, not 'here'");
  EXPECT_EQ(refusal("[jobmanager]\nslot-timeout = [1, 2]"),
            "E1001: h.toml:2: 'slot-timeout': expected a number from 0 to 1000000 (s), not a list");
  EXPECT_EQ(refusal("[jobmanager]\nrest-listen = \"none\""), "ok");
  EXPECT_EQ(refusal("[job]\nmemory-limit = 1024\nspin-us = -1"), "ok");
}

TEST(Options, WhatBelongsElsewhereIsToldWhere) {
  EXPECT_EQ(refusal("[job]\nheartbeat-interval = 1"),
            "E1001: h.toml:2: nothing reads 'heartbeat-interval' in [job]; it belongs in "
            "[jobmanager]");
  EXPECT_EQ(refusal("[jobmanager]\ntoken = \"x\""),
            "E1001: h.toml:2: nothing reads 'token' in [jobmanager]; it is no key of a file, only "
            "HUMMER_TOKEN");
  EXPECT_EQ(refusal("[elsewhere-entirely]"),
            "E1001: h.toml:1: nothing reads the table [elsewhere-entirely]; there are [cluster], "
            "[jobmanager], [taskmanager], [local], [client], [job]");
  EXPECT_EQ(refusal("[cluster]\nslots = 2"),
            "E1001: h.toml:2: nothing reads 'slots' in [cluster]; it belongs in [taskmanager]");
}

TEST(Options, VariablesOfOthersAreLeftAlone) {
  OptionSources sources;
  sources.variables = {{"HUMMER_SHORT", "1"},
                       {"HUMMER_TEST_ANYTHING", "1"},
                       {"HUMMER_SERVICE_HOST", "10.0.0.1"},
                       {"HUMMER_PORT", "tcp://10.0.0.1:6123"},
                       {"HUMMER_JOBMANAGER_PORT_6123_TCP_PROTO", "tcp"}};
  EXPECT_TRUE(check_file(option_programs(), sources.file).ok());
}

}  // namespace
}  // namespace hummer::options_test
