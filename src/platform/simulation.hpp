// Simulation: nodes that run in one thread under virtual time, with seeded
// faults. A run is a function of its seed: a failing one is a number that
// anyone can replay.
//
//   Simulation simulation({.seed = 42});
//   SimulatedPlatform& node = simulation.add_node("node1");
//   auto executor = node.make_executor({.name = "slot"});
//   executor->spawn(...);
//   RunEnd end = simulation.run_until([&] { return done; }, seconds(60));
//
// make_simulated_platform() is the short form for one node.
//
// Step: one of the executors that have something to run is chosen by the seed
// and resumes one coroutine; the step is charged 100 ns .. 10 µs of virtual
// time (seeded); then all timers and deliveries that are due happen. When
// nothing is runnable, time jumps to the next timer or delivery; when there is
// none either, the run ends as `deadlock`. Timers compare equal across machines
// of the simulation: there is one clock.
//
// Disks: each node has its own, in memory. A power cut (crash) keeps synced
// bytes, of the others a seeded, torn subset (sectors of 512 bytes, each kept or
// zero), and of the changes of names that no sync of their directory has made durable a seeded
// prefix. A node may share the disk of
// another, as machines share a mounted one.
//
// Network: nodes have addresses 10.0.0.1, 10.0.0.2, ... in order of creation
// and resolve each other by name; 127.x.x.x and localhost mean the own node. Other names are asked
// for at the servers of /etc/resolv.conf, where a node's disk has one. Between two nodes
// nothing passes while they are parted, or only one way (cut), or bytes change on their way
// (corrupt), which no checksum of the network's notices.
//
// Clocks: timers go by the one clock of the simulation; each node's wall clock may be set forward
// or back (step_wall_clock) and stays so after a restart.
//
// Killed nodes: their executors are never stepped again, their connections die
// at the other end, their handles go inert (calls fail with `cancelled` and have
// no effect), their run_until answers `deadlock` at once, so that whoever stops what is
// left need not wait for it, and destroying it flushes nothing. kill_at_disk_operation() kills
// in the middle of a step, between two operations of a disk.
//
// Paused nodes (pause_until): a stopped process or a stalled machine. None of its steps and timers
// happens until then; what others send meanwhile waits for it.
//
// Trace: every step, delivery, file change and network transfer goes into
// trace_hash(); upper modules add their own with trace(). Two runs of one seed, also
// in different processes, must agree: so nothing may depend on addresses, on the
// order of a hash table or on real time.
//
// Thread: one, whichever it is; several simulations may live side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/platform.hpp"
#include "platform/random.hpp"
#include "platform/timer.hpp"

namespace hummer {

struct SimulationOptions {
  std::uint64_t seed = 1;
  std::int64_t start_wall_time_ms = 1'700'000'000'000;
  int processors = 2;
  std::size_t memory_bytes = 0;  // of each machine; 0: unknown, so no limit comes from it
  // What one step costs.
  Nanoseconds step_minimum_ns = 100;
  Nanoseconds step_maximum_ns = microseconds(10);

  // Network. Latency is drawn per transfer; order within a stream is kept.
  Nanoseconds latency_minimum_ns = microseconds(20);
  Nanoseconds latency_maximum_ns = microseconds(500);
  double partial_transfer_rate = 0.2;  // a read or write moves only a part
  double connection_death_rate = 0;    // per transfer: both ends get connection_lost
  double connect_failure_rate = 0;     // per connect: refused or timed out
  double delay_rate = 0;               // per transfer: latency times 100
  double datagram_loss_rate = 0;       // per datagram; one between separated nodes is lost, too
  std::size_t stream_buffer_bytes = 64 * 1024;

  // Disk.
  std::uint64_t disk_capacity_bytes = UINT64_MAX;  // then disk_full, after a partial write
  double read_fault_rate = 0;                      // per read_at: io_error
  double write_fault_rate = 0;                     // per append or sync: io_error
  double name_fault_rate = 0;    // per rename, remove, directory made or synced: io_error
  bool disks_have_locks = true;  // else Files::lock fails
  Nanoseconds disk_operation_minimum_ns = microseconds(1);
  Nanoseconds disk_operation_maximum_ns = microseconds(100);
};

// Faults that happened, and what they had to happen to.
struct SimulationCounts {
  std::uint64_t transfers = 0;
  std::uint64_t delays = 0;  // by delay_rate
  std::uint64_t connection_deaths = 0;
  std::uint64_t held_by_partition = 0;  // transfers and connects
  std::uint64_t corrupted_transfers = 0;
  std::uint64_t lost_datagrams = 0;
  std::uint64_t disk_operations = 0;
  std::uint64_t write_faults = 0;  // by write_fault_rate
  std::uint64_t name_faults = 0;   // by name_fault_rate
  std::uint64_t full_disks = 0;    // appends that found no room
  // Removed while somebody wrote them: where state goes that has no room in memory.
  std::uint64_t nameless_files = 0;
};

class Simulation;
class SimulatedDisk;
class SimulatedExecutor;
class SimulatedFabric;
class SimulatedFiles;
class SimulatedNetwork;
class SimulatedRemoteMemories;
class SimulatedSegments;
class SimulatedSharedMemory;

class SimulatedPlatform final : public Platform {
 public:
  ~SimulatedPlatform() override;

  std::unique_ptr<Executor> make_executor(ExecutorOptions options) override;
  Executor& background() override;
  Files& files() override;
  Network& network() override;
  SharedMemory& shared_memory() override;
  Random& random() override { return random_; }
  Nanoseconds now() const override;
  std::int64_t wall_time_ms() const override;
  int processors() const override;
  Result<std::uint64_t> raise_descriptor_limit(std::uint64_t wanted) override { return wanted; }
  MemoryGiven memory_given() const override;
  std::size_t resident_bytes() const override { return 0; }
  Status write_standard(int stream, std::string_view text) override;
  bool is_terminal(int) const override { return false; }
  std::unique_ptr<SignalWatch> watch_signals(Hangup hangup) override;
  RunEnd run_until(const std::function<bool()>& predicate, Nanoseconds deadline) override;
  void notify_main() override {}

  Simulation& simulation() { return *simulation_; }
  const std::string& name() const { return name_; }
  SocketAddress address() const;
  // Nodes of the same number see each other's shared memory.
  int machine() const { return machine_; }
  bool alive() const { return alive_; }

  // What was written to standard output (1) and standard error (2).
  const std::string& standard(int stream) const { return standard_[stream == 2 ? 1 : 0]; }

  // SIGKILL. The disk stays as the operating system sees it.
  void kill();
  // Power cut: what the disk holds afterwards. Of a running node, or after kill().
  void crash_disk();
  // SIGKILL when that many further operations of its disk have begun, before the last one has any
  // effect; unless it was killed before. 0: takes it back.
  void kill_at_disk_operation(std::uint64_t operations) { operations_left_ = operations; }
  // Stands still until `time` of the simulation.
  void pause_until(Nanoseconds time);
  Nanoseconds paused_until() const { return paused_until_; }
  // The machine's wall clock jumps, as when it is set; other clocks and all timers go on.
  void step_wall_clock(std::int64_t by_ms);
  // By its files, at each operation. False: it is dead, perhaps since this one.
  bool begin_disk_operation();
  // Test access, also to a killed node's disk: all files below `directory`, by their paths from
  // there, and what they hold. Costs no virtual time; the views are good until the next step.
  std::vector<std::pair<std::string_view, std::string_view>> files_below(
      std::string_view directory) const;
  // Test access: truncates under mappings and readers, as another process would.
  void truncate_file(const std::string& path, std::uint64_t size_bytes);
  // Test access: when the file was written last, as a copy that keeps its time has it.
  // REQUIRES: it is there.
  void set_modified(const std::string& path, std::int64_t since_1970_ms);

 private:
  friend class Simulation;
  friend class SimulatedNetwork;
  friend class SimulatedWires;
  friend std::unique_ptr<SimulatedPlatform> make_simulated_platform(SimulationOptions options);
  SimulatedPlatform(Simulation& simulation, std::string name, int index,
                    std::shared_ptr<SimulatedDisk> disk);

  std::unique_ptr<Simulation> owned_simulation_;  // of the short form
  Simulation* simulation_;
  std::string name_;
  int index_;
  int machine_;
  bool alive_ = true;
  std::uint64_t operations_left_ = 0;  // until it is killed; 0: it is not
  Nanoseconds paused_until_ = 0;
  std::int64_t clock_error_ms_ = 0;
  Random random_;
  std::string standard_[2];
  std::unique_ptr<SimulatedFiles> files_;
  std::unique_ptr<SimulatedNetwork> network_;
  std::unique_ptr<SimulatedSharedMemory> shared_memory_;
  std::unique_ptr<Executor> background_;  // null: nobody has asked for it
};

class Simulation {
 public:
  explicit Simulation(SimulationOptions options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Lives as long as the simulation. Executors made by it must be destroyed before.
  SimulatedPlatform& add_node(std::string name);
  SimulatedPlatform& add_node(std::string name, const SimulatedPlatform& with_its_disk);
  // A process on the machine of a killed node: its disk and its address, nothing else.
  SimulatedPlatform& restart_node(SimulatedPlatform& killed);

  // One step. False when nothing can ever happen again.
  bool step();
  // Steps until predicate() or until virtual time reaches `deadline`.
  RunEnd run_until(const std::function<bool()>& predicate, Nanoseconds deadline);

  Nanoseconds now() const { return now_; }
  std::uint64_t steps() const { return steps_; }

  // Nothing passes between the two nodes any more (bytes wait), until healed.
  void partition(const SimulatedPlatform& a, const SimulatedPlatform& b);
  // Nothing passes from the one to the other, until healed; what comes back does. A new connection
  // needs both ways.
  void cut(const SimulatedPlatform& from, const SimulatedPlatform& to);
  void heal(const SimulatedPlatform& a, const SimulatedPlatform& b);
  // At this rate a transfer between the two nodes arrives with one bit turned; 0: none does.
  void corrupt(const SimulatedPlatform& a, const SimulatedPlatform& b, double rate);

  // The first is a process on the second one's machine from now on: they see the shared memory that
  // either makes. Disks, addresses and the network between them stay as they are.
  void share_memory(SimulatedPlatform& node, const SimulatedPlatform& with);
  SimulatedSegments& segments() { return *segments_; }
  SimulatedRemoteMemories& remote_memories() { return *remote_memories_; }

  const SimulationCounts& counts() const { return counts_; }
  std::uint64_t trace_hash() const { return trace_hash_; }
  void trace(std::string_view what);
  void trace(std::string_view what, std::uint64_t number);

  // Lets virtual time pass, a drawn amount: what an operation costs.
  void charge(Nanoseconds minimum, Nanoseconds maximum) {
    now_ += random_.between(minimum, maximum);
  }

  void count_write_fault() { ++counts_.write_faults; }
  void count_name_fault() { ++counts_.name_faults; }
  void count_full_disk() { ++counts_.full_disks; }
  void count_nameless_file() { ++counts_.nameless_files; }

  // May be changed while it runs, to start or end a kind of fault.
  SimulationOptions& options() { return options_; }
  Random& random() { return random_; }

 private:
  friend class SimulatedExecutor;
  friend class SimulatedPlatform;
  friend class SimulatedDisk;
  friend class SimulatedFabric;
  friend class SimulatedNetwork;
  friend class SimulatedConnection;
  friend class SimulatedWires;
  friend std::unique_ptr<SimulatedPlatform> make_simulated_platform(SimulationOptions options);
  enum class Step { done, too_late, nothing };

  // At most to `deadline` when time must jump.
  Step step_before(Nanoseconds deadline);
  Step advance(Nanoseconds deadline);
  void fire_due();
  // Null when there is none.
  SimulatedPlatform* node_named(std::string_view name) const;

  SimulationOptions options_;
  Random random_;
  Nanoseconds now_ = 0;
  std::uint64_t steps_ = 0;
  SimulationCounts counts_;
  std::uint64_t trace_hash_ = 0;
  TimerHeap events_;
  std::vector<SimulatedExecutor*> executors_;  // in order of creation
  std::vector<SimulatedExecutor*> runnable_;   // of them, at the last step
  SimulatedExecutor* current_ = nullptr;
  std::unique_ptr<SimulatedFabric> fabric_;  // listeners and connections
  std::unique_ptr<SimulatedSegments> segments_;
  std::unique_ptr<SimulatedRemoteMemories> remote_memories_;
  int nodes_made_ = 0;
  std::uint64_t executors_made_ = 0;
  std::vector<SimulatedPlatform*> everyone_;  // also a node that owns this simulation
  std::vector<std::unique_ptr<SimulatedPlatform>> nodes_;
};

std::unique_ptr<SimulatedPlatform> make_simulated_platform(SimulationOptions options);

}  // namespace hummer
