#include "runtime/in_flight.hpp"

#include <cstring>
#include <utility>

namespace hummer {
namespace {

constexpr std::uint8_t piece_version = 1;
constexpr std::uint8_t run_has_timestamps = 1;
// Of a run that was written here: a batch and what one record may exceed it by.
constexpr std::uint32_t max_run_records = 1U << 30;

Status corrupt(const char* what) {
  return {ErrorCode::corrupt_record, std::string("records in flight cannot be decoded: ") + what};
}

}  // namespace

void append_run(const Batch& batch, std::string& runs) {
  if (batch.finished()) return;
  const std::size_t first = batch.position();
  std::string values;
  ByteWriter out(values);
  const std::size_t encoded =
      batch.type().encode_values(batch.raw_values(), first, batch.size(), out);
  HUMMER_ASSERT(encoded == batch.size());
  const auto put = [&runs](const auto& value) {
    runs.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const bool timed = batch.has_timestamps();
  put(batch.type().id);
  put(static_cast<std::uint32_t>(batch.size() - first));
  put(timed ? run_has_timestamps : std::uint8_t{0});
  put(static_cast<std::uint64_t>(out.size()));
  runs.append(out.view());
  if (!timed) return;
  for (std::size_t i = first; i < batch.size(); ++i) put(batch.timestamps()[i]);
}

std::vector<SnapshotPiece> InFlight::take_pieces(int subtask) {
  std::vector<SnapshotPiece> pieces;
  for (auto& [place, runs] : runs_) {
    const auto& [uid, input, hop] = place;
    if (runs.empty()) continue;
    SnapshotPiece& piece = pieces.emplace_back();
    piece.uid = uid;
    piece.in_flight = true;
    ByteWriter out(piece.bytes);
    out.put_value(piece_version);
    out.put_value(static_cast<std::uint8_t>(hop));
    out.put_value(static_cast<std::uint32_t>(input));
    out.put_value(static_cast<std::uint32_t>(subtask));
    out.put(runs.data(), runs.size());
    piece.bytes.resize(out.size());
  }
  runs_.clear();
  return pieces;
}

Result<InFlightReader> InFlightReader::open(std::string_view bytes) {
  InFlightReader reader(bytes);
  std::uint8_t version = 0;
  std::uint8_t hop = 0;
  std::uint32_t input = 0;
  std::uint32_t subtask = 0;
  if (!reader.in_.get_value(version) || version != piece_version || !reader.in_.get_value(hop) ||
      hop > static_cast<std::uint8_t>(Hop::task_upstream) || !reader.in_.get_value(input) ||
      !reader.in_.get_value(subtask)) {
    return corrupt("their head");
  }
  reader.hop_ = static_cast<Hop>(hop);
  reader.input_ = static_cast<int>(input);
  reader.subtask_ = static_cast<int>(subtask);
  return reader;
}

Result<bool> InFlightReader::next(const TypeDescriptor& type, Batch& batch) {
  if (in_.left() == 0) return false;
  std::uint64_t type_id = 0;
  std::uint32_t records = 0;
  std::uint8_t flags = 0;
  std::uint64_t values_bytes = 0;
  if (!in_.get_value(type_id)) return corrupt("the type of a run");
  if (type_id != type.id) {
    return Status(ErrorCode::invalid_graph,
                  "the checkpoint holds records that were in flight, and the operator now takes "
                  "others (" +
                      type.name +
                      "): restore from a savepoint, or where the job has the same operators (one "
                      "subtask may need fewer of them than several)");
  }
  if (!in_.get_value(records) || records == 0 || records > max_run_records ||
      !in_.get_value(flags) || flags > run_has_timestamps || !in_.get_value(values_bytes)) {
    return corrupt("the head of a run");
  }
  const char* at = values_bytes <= in_.left() ? in_.take(values_bytes) : nullptr;
  // Only a type that encodes to nothing has more records than bytes.
  if (at == nullptr || (values_bytes != 0 && records > values_bytes)) return corrupt("cut short");
  batch = Batch(type, records);
  std::string_view values(at, values_bytes);
  if (type.holds_views) values = batch.copy_text(values);
  ByteReader in(values);
  const std::size_t decoded = type.decode_values(in, batch.raw_mutable_values(), records);
  batch.set_size(decoded);
  if (decoded != records || in.left() != 0) return corrupt(type.name.c_str());
  if ((flags & run_has_timestamps) == 0) return true;
  const std::size_t times_bytes = std::size_t{records} * sizeof(Timestamp);
  const char* times = in_.take(times_bytes);
  if (times == nullptr) return corrupt("their times");
  batch.timestamps().resize(records);
  std::memcpy(batch.timestamps().data(), times, times_bytes);
  return true;
}

}  // namespace hummer
