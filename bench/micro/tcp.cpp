// Source in one process, sink in another, 100-byte records over a TCP connection between them, or a
// ring in shared memory: a job for a cluster with a JobManager and two TaskManagers of one slot
// each, all of which this program is.
//
//   micro_tcp_hummer jobmanager &
//   micro_tcp_hummer taskmanager --slots 1 & micro_tcp_hummer taskmanager --slots 1 &
//   micro_tcp_hummer submit --report FILE [--transport tcp|shm]
//
// The TaskManager with the sink writes the report; its clock runs from the first batch, so that no
// start of a process and no submission counts.
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <system_error>

#include "job_parts.hpp"

namespace micro {
namespace {

// To the file, on the machine of the sink; without one, to the standard output of its process.
void write_report(const std::string& path, const std::string& transport, const SinkResult& result) {
  std::FILE* const file = path.empty() ? stdout : std::fopen(path.c_str(), "w");
  if (file == nullptr) throw std::system_error(errno, std::generic_category(), path);
  report(transport.c_str(), result.records, result.seconds, result.hash, result.watermarks, file);
  if (file != stdout && std::fclose(file) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
}

void run_tcp(hummer::StreamExecutionEnvironment& env) {
  const std::uint64_t count = number_argument(env, "records", 50'000'000, "how many");
  const std::string path = env.argument_or("report", "", "file that the sink writes its report to");
  const Parameters parameters = parameters_of(env);
  const std::string transport = env.argument_or("transport", "tcp", "tcp or shm");
  if (transport != "tcp" && transport != "shm") {
    throw std::invalid_argument("--transport: neither tcp nor shm, but " + transport);
  }
  hummer::NetworkSettings network;
  network.transport = transport == "shm" ? hummer::Transport::shm : hummer::Transport::tcp;
  const TakeResult take = [path, transport](const SinkResult& result) {
    write_report(path, transport, result);
  };
  make_records(env, count, MakeRecord{static_cast<std::uint32_t>(parameters.seed)}, TimeOfRecord{})
      .network(network)
      .add_sink("checksum", checksum_sink<Record, RecordChecksum>(take, is_timed(env)))
      .parallelism(1)
      .resource_group("back");
  env.execute("tcp");
}

}  // namespace
}  // namespace micro

HUMMER_JOB(micro::run_tcp)
