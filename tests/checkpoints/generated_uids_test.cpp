// Uids that are generated are those of the golden list, whichever compiler has compiled this: with
// another list, state that a program of GCC has written is not found by one of Clang. The presets
// release and asan compile with one of them each.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <hummer/hummer.hpp>

#include "api/job_build.hpp"
#include "checkpoints/stateful_jobs.hpp"
#include "graph/job_graph.hpp"

namespace uids_of_types {

inline namespace second_edition {
enum class Color : std::uint8_t { red, green };
template <typename T, typename A = std::allocator<T>>
struct Labelled {
  T value;
  Color color;
};
}  // namespace second_edition

}  // namespace uids_of_types

namespace hummer::generated_uids_test {
namespace {

using uids_of_types::Labelled;
using Index = std::uint64_t;

struct InNameless {
  Index value;
};

// A type of each sort that compilers spell in ways of their own, and one stateful operator behind.
JobResult types_of_all_sorts(StreamExecutionEnvironment& env) {
  struct InFunction {
    Index value;
  };
  env.generate([](Index i) { return Labelled<unsigned long>{i, {}}; }, {.count = 1})
      .map([](const Labelled<unsigned long>& in) {
        return Labelled<std::string>{std::to_string(in.value), in.color};
      })
      .map([](const Labelled<std::string>& in) {
        return Labelled<std::vector<std::string>>{{in.value}, in.color};
      })
      .map([](const Labelled<std::vector<std::string>>& in) { return in.color; })
      .map([](const uids_of_types::Color& in) { return InNameless{static_cast<Index>(in)}; })
      .map([](const InNameless& in) { return InFunction{in.value}; })
      .map([](const InFunction& in) { return std::pair(in, std::optional<InNameless>()); })
      .key_by(
          [](const std::pair<InFunction, std::optional<InNameless>>& in) { return in.first.value; })
      .count(Emit::every_record)
      .write_file("/out");
  return env.execute("types");
}

std::string uids_of(JobFunction job, const std::vector<std::string>& arguments = {}) {
  const Result<BuiltJob> built = build_job(job, arguments, {}, {.for_cluster = false});
  EXPECT_TRUE(built.ok()) << built.status().to_string();
  const Result<JobGraph> fused = fuse(built->graph);
  EXPECT_TRUE(fused.ok()) << fused.status().to_string();
  std::string uids;
  for (const JobVertex& vertex : fused->vertices) {
    for (const ChainedOperator& op : vertex.chain) uids += op.name + " " + op.uid + "\n";
  }
  return uids;
}

TEST(GeneratedUids, AreThoseOfTheListForTypesOfAllSorts) {
  EXPECT_EQ(uids_of(&types_of_all_sorts),
            "generate d150237190df475e\n"
            "map 59c2e72a5ef3982b\n"
            "map 14257fa302b8a891\n"
            "map 012141fef8cbf051\n"
            "map 83387d6922a47e63\n"
            "map afe5e7e26fc0a880\n"
            "map f0531918617ccbd3\n"
            "count 6c717f8d7a515fe0\n"
            "format 969cc1177bf16350\n"
            "write_file 72bbb99299d2fced\n");
}

// Whose state of 0.1.0 is kept (kept_state_test.cpp).
TEST(GeneratedUids, AreThoseOfTheListForAJobOfTheEnginesOwnTypes) {
  EXPECT_EQ(uids_of(&stateful_jobs::run_named_job, {"--case=first_and_best"}),
            "generate fbbef74fb10359ef\n"
            "map 3f9ae23e879fd449\n"
            "deduplicate 75cbcbc8c8db410d\n"
            "map e650cf2c165183eb\n"
            "generate fbbef74fb10359ef-2\n"
            "map c6ef89121954cc56\n"
            "top_n 492e5eb253919611\n"
            "map 60f08191d690a85d\n"
            "union 49a6d46eb503b934\n"
            "format a73a08399c1ecf97\n"
            "write_file 01e2404e6406a27f\n");
}

}  // namespace
}  // namespace hummer::generated_uids_test
