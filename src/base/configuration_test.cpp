#include "base/configuration.hpp"

#include <gtest/gtest.h>

namespace hummer {
namespace {

constexpr std::string_view tables[] = {"job", "jobmanager"};

TEST(Configuration, EntriesKeepTheirPlace) {
  const auto parsed = parse_configuration(
      "# for all jobs\n[job]\nparallelism = 4\nquiet = true\n\n[jobmanager]\nlisten = \"a:1\"\n"
      "data = [\"x\", \"y\"]\nfactor = 1.5\n",
      "h.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
  ASSERT_EQ(parsed->entries.size(), 5U);
  EXPECT_EQ(parsed->entries[0].key, "parallelism");
  EXPECT_EQ(parsed->entries[0].values, std::vector<std::string>{"4"});
  EXPECT_EQ(parsed->place(parsed->entries[0]), "h.toml:3");
  EXPECT_TRUE(parsed->entries[1].is_switch);
  EXPECT_EQ(parsed->entries[2].table, "jobmanager");
  EXPECT_EQ(parsed->entries[3].values, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(parsed->entries[4].values, std::vector<std::string>{"1.5"});
  EXPECT_TRUE(check_tables(*parsed, tables).ok());
}

std::string refusal(std::string_view text) {
  const auto parsed = parse_configuration(text, "h.toml");
  if (!parsed.ok()) return parsed.status().to_string();
  return check_tables(*parsed, tables).to_string();
}

TEST(Configuration, MistakesAreNamedByLine) {
  EXPECT_TRUE(refusal("[job]\nparallelism 4\n").starts_with("E1001: h.toml:2: "));
  EXPECT_EQ(refusal("[jobs]\nx = 1\n"),
            "E1001: h.toml:2: nothing reads the table [jobs], did you mean [job]?");
  EXPECT_EQ(refusal("[elsewhere-entirely]\nx = 1\n"),
            "E1001: h.toml:2: nothing reads the table [elsewhere-entirely]; there are [job], "
            "[jobmanager]");
  EXPECT_TRUE(refusal("\nparallelism = 4\n").starts_with("E1001: h.toml:2: 'parallelism' stands"));
  EXPECT_TRUE(refusal("[job]\nx = { y = 1 }\n").starts_with("E1001: h.toml:2: 'x' must be"));
  EXPECT_TRUE(refusal("[job]\nx = 1\nx = 2\n").starts_with("E1001: h.toml:3: "));
  EXPECT_EQ(refusal("[job]\n[\r\r"), "E1001: h.toml:2: the byte 0x0d may stand nowhere in TOML");
  EXPECT_EQ(refusal("[job]\r\nparallelism = 4\r\n"), "ok");
  EXPECT_TRUE(refusal(std::string(2 << 20, '#')).starts_with("E1001: h.toml: 2097152 bytes"));
}

TEST(Configuration, TheNearestNameIsSuggested) {
  const std::vector<std::string> names{"parallelism", "quiet", "spin-us"};
  EXPECT_EQ(nearest_name("paralelism", names), "parallelism");
  EXPECT_EQ(nearest_name("spin_us", names), "spin-us");
  EXPECT_EQ(nearest_name("nothing-like-it", names), "");
}

}  // namespace
}  // namespace hummer
