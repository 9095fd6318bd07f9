#include "prepared_transaction.hpp"

#include <cstdlib>

#include "sink_options.hpp"
#include "sink_state.hpp"

namespace hummer::kafka {
namespace {

constexpr int questions = 3;
constexpr std::size_t named_bytes = 1'000;

}  // namespace

std::string transactional_id(const SinkSettings& settings, std::uint32_t writer,
                             std::uint32_t number) {
  return settings.transactional_id + "-" + std::to_string(writer) + "-" + std::to_string(number);
}

int transaction_timeout_ms(const SinkSettings& settings) {
  const auto own = settings.connection.options.find("transaction.timeout.ms");
  return std::atoi(own == settings.connection.options.end()
                       ? sink_options(settings).at("transaction.timeout.ms").c_str()
                       : own->second.c_str());
}

Result<Outcome> conclude(Coordinator& coordinator, const SinkSettings& settings,
                         const PreparedTransaction& prepared) {
  const std::string id = transactional_id(settings, prepared.writer, prepared.number);
  auto answer = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (int left = questions; left > 0; --left) {
    const Result<DescribedTransaction> now = coordinator.describe(id);
    if (!now.ok()) return now.status();
    if (now->error != 0 || now->producer != prepared.producer ||
        now->start_ms != prepared.start_ms) {
      break;  // it has ended, and the id has moved on
    }
    if (now->state == "CompleteCommit") return Outcome::committed;
    if (now->state != "Ongoing" && now->state != "PrepareCommit") break;
    const Result<rd_kafka_resp_err_t> answered = coordinator.commit(id, prepared.producer);
    if (!answered.ok()) return answered.status();
    answer = *answered;
    if (answer == RD_KAFKA_RESP_ERR_NO_ERROR) return Outcome::committed;
    // Its time may have been up just then: the next question says so.
  }
  if (answer == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED) {
    return Status(ErrorCode::permission_denied,
                  "committing the transaction of '" + id + "': " + rd_kafka_err2str(answer));
  }
  const Result<Progress> progress = read_progress(settings, prepared.writer);
  if (!progress.ok()) return progress.status();
  return progress->has(prepared.name) ? Outcome::committed : Outcome::lost;
}

Status loss_of(const SinkSettings& settings, const PreparedTransaction& prepared) {
  return {ErrorCode::operator_failed,
          "the transaction of epoch " + std::to_string(prepared.name.epoch) +
              ", whose checkpoint is complete, is not in Kafka and can't be committed any more "
              "(transactional id '" +
              transactional_id(settings, prepared.writer, prepared.number) + "'; " +
              prepared.partitions + "): it was aborted, since transaction.timeout.ms (" +
              std::to_string(transaction_timeout_ms(settings)) +
              ") was over before the job could commit it, or since something else writes with "
              "this transactional_id. Its records are lost, unless the job goes back: restore an "
              "older checkpoint or savepoint, which writes all since then again, or set "
              "lost_transactions = LostTransactions::go_on, which goes on without them"};
}

std::string name_partitions(const DescribedTransaction& described, const std::string& but_for) {
  std::string text;
  for (const auto& [topic, partitions] : described.partitions) {
    if (topic == but_for) continue;
    text += (text.empty() ? "topic '" : "; topic '") + topic + "': ";
    for (std::size_t i = 0; i < partitions.size() && text.size() < named_bytes; ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(partitions[i]);
    }
    if (text.size() >= named_bytes) return text + " …";
  }
  return text;
}

void write_state(ByteWriter& out, const OpenSinkState& state) {
  out.put_value(open_sink_state_version);
  out.put_text(state.transactional_id);
  out.put_value(state.writer);
  out.put_value(state.ids);
  out.put_value(static_cast<std::uint32_t>(state.prepared.size()));
  for (const PreparedTransaction& each : state.prepared) {
    out.put_value(each.name.run);
    out.put_value(each.name.attempt);
    out.put_value(each.name.epoch);
    out.put_value(each.writer);
    out.put_value(each.number);
    out.put_value(each.producer.id);
    out.put_value(each.producer.epoch);
    out.put_value(each.start_ms);
    out.put_text(each.partitions);
  }
}

Status read_state(ByteReader& in, OpenSinkState& state) {
  std::uint8_t version = 0;
  std::uint32_t count = 0;
  if (!in.get_value(version)) return undecodable_sink_state();
  if (version == sink_state_version) return state_of_another_guarantee();
  std::string_view id;
  bool valid = version == open_sink_state_version && in.get_text(id) &&
               in.get_value(state.writer) && in.get_value(state.ids) && in.get_value(count);
  state.transactional_id = id;
  for (; valid && count > 0; --count) {
    PreparedTransaction& each = state.prepared.emplace_back();
    std::string_view partitions;
    valid = in.get_value(each.name.run) && in.get_value(each.name.attempt) &&
            in.get_value(each.name.epoch) && in.get_value(each.writer) &&
            in.get_value(each.number) && in.get_value(each.producer.id) &&
            in.get_value(each.producer.epoch) && in.get_value(each.start_ms) &&
            in.get_text(partitions);
    each.partitions = partitions;
  }
  return valid ? Status() : undecodable_sink_state();
}

}  // namespace hummer::kafka
