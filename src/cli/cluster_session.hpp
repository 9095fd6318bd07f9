// ClusterSession: what all commands that ask a JobManager have in common: its options
// (of the program "client", api/options/), a blocking ask(), jobs by number or name, and the three
// forms of output.
//
// Lifecycle: add_options → line.read → open() → ask()*; or open(address, ...) → ask()*. Thread: the
// main thread. Errors: as ClusterClient.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/command_options.hpp"
#include "cli/table.hpp"
#include "client/cluster_client.hpp"
#include "client/credentials.hpp"

namespace hummer {

inline constexpr const char* exit_codes_text =
    "Exit code: 0 success, 1 failure, 2 wrong usage, 130 interrupted.";

class ClusterSession {
 public:
  explicit ClusterSession(Platform& platform) : platform_(platform) {}
  ~ClusterSession();
  ClusterSession(const ClusterSession&) = delete;
  ClusterSession& operator=(const ClusterSession&) = delete;

  void add_options(CommandLine& line);
  // --json and --tsv.
  void add_output_options(CommandLine& line);

  Status open();
  // Without a command line.
  void open(const std::string& job_manager, Credentials credentials);
  // Instead of the JobManager, asks another process of the cluster. REQUIRES: open().
  void turn_to(const std::string& address);
  Result<wire::ClientAnswer> ask(wire::ClientRequest request);
  // By number, or by a name that one live job has, or one job at all.
  Result<std::uint64_t> find_job(const std::string& number_or_name);
  Result<wire::JobStatus> status_of(std::uint64_t job, bool with_graph = false);

  // Waits for it; the path of its directory.
  Result<std::string> take_savepoint(std::uint64_t job, const std::string& directory, bool stop);

  bool json() const { return json_; }
  // Rows for a program rather than a page for a person: asked for, or the output is no terminal.
  bool rows() const { return tsv_ || !platform_.is_terminal(1); }
  void print(const Table& table);
  void print(std::string_view text) { (void)platform_.write_standard(1, text); }
  Platform& platform() { return platform_; }

 private:
  Platform& platform_;
  std::unique_ptr<CommandOptions<ClientSettings>> options_;
  bool json_ = false;
  bool tsv_ = false;
  std::unique_ptr<Executor> executor_;
  ClusterClientOptions client_options_;
  std::unique_ptr<ClusterClient> client_;
};

}  // namespace hummer
