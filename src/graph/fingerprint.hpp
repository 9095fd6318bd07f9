// A job graph's fingerprint: 64 bits that agree when two builds of one job mean
// the same job.
//
// A worker builds the job again from its library and arguments and compares. It
// covers topology (chains, edges, ports, routing), uids, names, kinds, type names
// numbers of key groups, and the values that user functions captured. It covers neither parallelism
// (declared or resolved), resource groups nor network settings: those may change between two runs
// of one job. The library, the arguments and the codecs are hashed elsewhere.
//
// `execution_hash` covers what the fingerprint leaves out of a placed job: which TaskManagers,
// every task with its slot, every channel with its transport and settings. JobManager and
// TaskManagers compute it from the same facts, and a difference means that they would disagree
// about who talks to whom.
//
// Pure; the value is the same on every machine and in every build (FNV-1a over
// length-prefixed little-endian fields; a golden test holds it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hummer {

struct ExecutionGraph;
struct JobGraph;

class StableHash {
 public:
  StableHash& add(std::string_view text);
  StableHash& add(std::int64_t number);
  std::uint64_t value() const { return value_; }

 private:
  void add_bytes(const unsigned char* bytes, std::size_t count);
  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::uint64_t fingerprint(const JobGraph& graph);
std::uint64_t execution_hash(const ExecutionGraph& graph);

// To name what differs when fingerprints do: a hash per operator, vertex by vertex and head first,
// and the first of them in which `rebuilt` is not as `expected`, in words.
std::vector<std::uint64_t> operator_hashes(const JobGraph& graph);
std::string first_difference(const JobGraph& rebuilt, const std::vector<std::uint64_t>& expected);

}  // namespace hummer
