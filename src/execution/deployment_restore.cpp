// Deployment: what tasks begin with, after a restart: the states of operators, and records in
// flight that an unaligned checkpoint holds (runtime/in_flight.hpp).
#include <algorithm>
#include <exception>
#include <utility>

#include <hummer/detail/partitioner.hpp>

#include "execution/deployment.hpp"
#include "state/piece_reader.hpp"

namespace hummer {

namespace {

// Of the pieces of an operator: those of each earlier subtask, a whole one and the deltas on it.
std::vector<std::vector<const RestoredPiece*>> by_subtask(
    const std::vector<RestoredPiece>& pieces) {
  std::vector<std::vector<const RestoredPiece*>> subtasks;
  for (const RestoredPiece& piece : pieces) {
    if (!piece.delta || subtasks.empty()) subtasks.emplace_back();
    subtasks.back().push_back(&piece);
  }
  return subtasks;
}

// Whether the stream has ended for this subtask: at the same parallelism as it says itself, at
// another one as all do, since the input of any of them may come to it.
bool has_ended(const std::vector<std::vector<const RestoredPiece*>>& subtasks,
               const ExecutionTask& execution) {
  const auto ended = [](const auto& pieces) { return pieces.back()->ended; };
  if (subtasks.size() == static_cast<std::size_t>(execution.parallelism)) {
    return ended(subtasks[static_cast<std::size_t>(execution.subtask)]);
  }
  return std::all_of(subtasks.begin(), subtasks.end(), ended);
}

KeyGroups own_groups(const ChainedOperator& chained, const ExecutionTask& execution) {
  const auto groups =
      chained.key_groups > 0 ? static_cast<std::uint32_t>(chained.key_groups) : default_key_groups;
  return KeyGroups::of_subtask(static_cast<std::uint32_t>(execution.subtask),
                               static_cast<std::uint32_t>(execution.parallelism), groups);
}

}  // namespace

Status Deployment::restore_tasks() {
  HUMMER_TRY(check_in_flight());
  if (options_.restored != nullptr && memory_ != nullptr) {
    restore_memory_ = memory_->make_child("state that is restored");
  }
  const Result<InFlightPieces> in_flight = read_in_flight();
  if (!in_flight.ok()) return in_flight.status();
  const std::shared_ptr<MemoryAccount> in_flight_memory = count_in_flight(*in_flight);
  std::vector<std::shared_ptr<MemoryAccount>> to_come = claim_shares();
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    StreamTask* task = task_here(execution.id);
    if (task == nullptr || execution.kind != TaskKind::chain) continue;
    if (options_.on_snapshot) {
      task->enable_snapshots(options_.guarantee,
                             [this, &execution](StreamTask&, TaskSnapshot snapshot) {
                               options_.on_snapshot(execution, std::move(snapshot));
                             });
      if (options_.on_committed) task->set_on_committed(options_.on_committed);
    }
    if (options_.restored == nullptr) continue;
    const JobVertex& vertex = job_graph_.vertices[static_cast<std::size_t>(execution.vertex)];
    RestoredTask& restored = restored_tasks_.emplace_back();
    restored.task = task;
    for (std::size_t stage = 0; stage < vertex.chain.size(); ++stage) {
      if (vertex.chain[stage].stateful && !to_come.empty()) to_come.pop_back();
      HUMMER_TRY(restore_stage(execution, *task, stage, restored.bytes));
    }
    HUMMER_TRY(restore_in_flight(execution, *task, *in_flight));
  }
  restore_memory_.reset();
  return {};
}

// Operators are restored one after the other, and what one of them holds is not taken away by the
// next: so each stands for its share from the beginning on.
std::vector<std::shared_ptr<MemoryAccount>> Deployment::claim_shares() const {
  std::vector<std::shared_ptr<MemoryAccount>> claims;
  if (restore_memory_ == nullptr || !restore_memory_->limited()) return claims;
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    if (!is_here(execution) || execution.kind != TaskKind::chain) continue;
    for (const ChainedOperator& chained :
         job_graph_.vertices[static_cast<std::size_t>(execution.vertex)].chain) {
      if (!chained.stateful) continue;
      claims.push_back(restore_memory_->make_child(chained.name));
      claims.back()->set_elastic();
    }
  }
  return claims;
}

// It counts all the same where there is no room: the operators put more on disk then.
std::shared_ptr<MemoryAccount> Deployment::count_in_flight(const InFlightPieces& pieces) const {
  if (restore_memory_ == nullptr) return nullptr;
  std::size_t bytes = 0;
  for (const auto& of_one : pieces) {
    for (const std::string& piece : of_one.second) bytes += piece.size();
  }
  std::shared_ptr<MemoryAccount> memory = restore_memory_->make_child("records in flight");
  (void)memory->set_own(bytes);
  return memory;
}

Status Deployment::restore_stage(const ExecutionTask& execution, StreamTask& task,
                                 std::size_t stage, std::uint64_t& bytes_read) {
  const ChainedOperator& chained =
      job_graph_.vertices[static_cast<std::size_t>(execution.vertex)].chain[stage];
  const auto found = options_.restored->pieces.find(chained.uid);
  if (found == options_.restored->pieces.end()) return {};
  const bool all = chained.stateful || task.chain().takes_all_pieces(stage);
  const auto subtasks = by_subtask(found->second);
  std::vector<const RestoredPiece*> own;
  for (std::size_t i = 0; i < subtasks.size(); ++i) {
    const bool dealt_here = static_cast<int>(i) % execution.parallelism == execution.subtask;
    if (all || dealt_here) own.insert(own.end(), subtasks[i].begin(), subtasks[i].end());
  }
  task.chain().begin_restore(stage, has_ended(subtasks, execution));
  const KeyGroups wanted = chained.stateful ? own_groups(chained, execution) : KeyGroups();
  for (std::size_t i = 0; i < own.size(); ++i) {
    Result<std::unique_ptr<PieceReader>> piece = open_piece(*own[i], wanted);
    if (!piece.ok()) return piece.status();
    ByteReader in(**piece);
    std::uint8_t kind = 0;
    (void)in.get_value(kind);  // known
    const bool delta_follows = i + 1 < own.size() && own[i + 1]->delta;
    const Status status = task.chain().restore(stage, in, delta_follows,
                                               options_.allow_dropped_state, &(*piece)->keys());
    HUMMER_TRY((*piece)->failure());
    HUMMER_TRY(status);
    bytes_read += (*piece)->bytes_read();
  }
  return {};
}

Result<std::unique_ptr<PieceReader>> Deployment::open_piece(const RestoredPiece& piece,
                                                            const KeyGroups& wanted) {
  Result<std::unique_ptr<PieceReader>> reader =
      PieceReader::open(platform_.files(), piece.place, wanted, restore_memory_);
  if (reader.ok()) return reader;
  // It was there: somebody else's loss of a file must not look like one that a restart mends.
  const bool missing = reader.status().code() == ErrorCode::not_found;
  return Status(missing ? ErrorCode::corrupt_file : reader.status().code(),
                reader.status().message())
      .with_context("reading the state to begin with");
}

bool Deployment::unaligned() const {
  return options_.unaligned && options_.guarantee == Guarantee::exactly_once &&
         can_be_unaligned(job_graph_);
}

Status Deployment::check_in_flight() const {
  if (options_.restored == nullptr || options_.allow_dropped_state) return {};
  for (const auto& entry : options_.restored->in_flight) {
    const std::string& uid = entry.first;
    const bool found = std::any_of(
        job_graph_.vertices.begin(), job_graph_.vertices.end(), [&](const JobVertex& vertex) {
          return std::any_of(vertex.chain.begin(), vertex.chain.end(),
                             [&](const ChainedOperator& chained) { return chained.uid == uid; });
        });
    if (found) continue;
    return {ErrorCode::invalid_graph,
            "checkpoint " + std::to_string(options_.restored->checkpoint) +
                " holds records that were in flight to the operator with uid '" + uid +
                "', which the job no longer has: restore from a savepoint, which holds none; or " +
                state_remedies};
  }
  return {};
}

const PartitionerFactory& Deployment::partitioner_of(const JobEdge& edge) const {
  const int to_node = job_graph_.vertices[static_cast<std::size_t>(edge.to)].chain.front().node;
  const PartitionerFactory* factory = nullptr;
  int input = 0;  // one stream may feed two inputs, by different keys
  for (const StreamEdge& written : stream_graph_.edges) {
    if (written.to != to_node) continue;
    if (input++ == edge.to_input) factory = written.partitioner.get();
  }
  HUMMER_ASSERT(factory != nullptr);
  return *factory;
}

// What an operator's input takes, and by whose keys; null: records are dealt out.
struct Deployment::InFlightInput {
  const TypeDescriptor* type = nullptr;
  std::unique_ptr<Partitioner> partitioner;
};

Result<Deployment::InFlightInput> Deployment::in_flight_input(const JobVertex& vertex,
                                                              ChainDriver& chain, std::size_t stage,
                                                              int input) const {
  InFlightInput found;
  if (stage > 0) {
    found.type = &chain.output_type(stage - 1, 0);
    return found;
  }
  for (const JobEdge& edge : job_graph_.edges) {
    if (edge.to != vertex.id || edge.to_input != input) continue;
    found.type = &edge_type(edge.id);
    if (edge.routing == Routing::hash) {
      const int targets = execution_graph_.parallelism[static_cast<std::size_t>(vertex.id)];
      found.partitioner = partitioner_of(edge).make(static_cast<std::uint32_t>(targets),
                                                    static_cast<std::uint32_t>(edge.key_groups));
    }
    return found;
  }
  return Status(ErrorCode::invalid_graph, "operator '" + vertex.chain.front().name +
                                              "' has no input " + std::to_string(input) +
                                              " any more, for which the checkpoint holds records");
}

namespace {

// Those of the batch that this subtask owns.
Result<Batch> owned(Batch batch, Partitioner& partitioner, const ExecutionTask& execution) {
  std::vector<Batch> targets;
  for (int i = 0; i < execution.parallelism; ++i) targets.emplace_back(batch.type(), batch.size());
  std::string thrown;
  try {
    (void)partitioner.scatter(batch, targets, batch.size() + 1);
    Batch& own = targets[static_cast<std::size_t>(execution.subtask)];
    if (batch.type().holds_views) own.keep_buffers_of(batch);
    return std::move(own);
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "an exception that is no std::exception";
  }
  return Status(ErrorCode::user_function_failed,
                "key function failed for a record that was in flight: " + thrown);
}

}  // namespace

// Of all operators here: each is read by several of their tasks.
Result<Deployment::InFlightPieces> Deployment::read_in_flight() {
  InFlightPieces read;
  if (options_.restored == nullptr) return read;
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    if (task_here(execution.id) == nullptr || execution.kind != TaskKind::chain) continue;
    for (const ChainedOperator& chained :
         job_graph_.vertices[static_cast<std::size_t>(execution.vertex)].chain) {
      const auto found = options_.restored->in_flight.find(chained.uid);
      if (found == options_.restored->in_flight.end() || read.contains(chained.uid)) continue;
      for (const RestoredPiece& piece : found->second) {
        Result<std::unique_ptr<PieceReader>> reader = open_piece(piece, KeyGroups());
        if (!reader.ok()) return reader.status();
        ByteReader in(**reader);
        const char* const at = in.take(piece.place.bytes);
        if (at == nullptr) return (*reader)->failure();
        read[chained.uid].emplace_back(at + 1, piece.place.bytes - 1);
      }
    }
  }
  return read;
}

Status Deployment::restore_in_flight(const ExecutionTask& execution, StreamTask& task,
                                     const InFlightPieces& pieces) {
  const JobVertex& vertex = job_graph_.vertices[static_cast<std::size_t>(execution.vertex)];
  for (std::size_t stage = 0; stage < vertex.chain.size(); ++stage) {
    const auto found = pieces.find(vertex.chain[stage].uid);
    if (found == pieces.end()) continue;
    for (const Hop hop : {Hop::own_task, Hop::task_upstream}) {
      for (const std::string& piece : found->second) {
        Result<InFlightReader> reader = InFlightReader::open(piece);
        if (!reader.ok()) return reader.status();
        if (reader->hop() != hop) continue;
        Result<InFlightInput> input = in_flight_input(vertex, task.chain(), stage, reader->input());
        if (!input.ok()) return input.status();
        const bool dealt_here = reader->subtask() % execution.parallelism == execution.subtask;
        if (!input->partitioner && !dealt_here) continue;
        for (;;) {
          Batch batch;
          const Result<bool> more = reader->next(*input->type, batch);
          if (!more.ok()) {
            return more.status().with_context("restoring operator '" + vertex.chain[stage].name +
                                              "'");
          }
          if (!*more) break;
          if (input->partitioner) {
            Result<Batch> own = owned(std::move(batch), *input->partitioner, execution);
            if (!own.ok()) return own.status();
            batch = std::move(*own);
          }
          if (batch.empty()) continue;
          task.chain().restore_in_flight(stage, reader->input(), std::move(batch));
        }
      }
    }
  }
  return {};
}

}  // namespace hummer
