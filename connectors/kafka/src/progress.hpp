// Which epochs a subtask has written: notes in the topic NAME-progress, each written in the
// transaction of its epoch.
//
// Subtask k notes in partition k, and nobody else does. So once its producer is fenced, and with
// that its last transaction ended, a reader of committed records sees all of its notes, whatever
// other subtasks have open. Key: the run and attempt that made the epoch; value: the epoch. The
// topic is compacted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "producer.hpp"

namespace hummer::kafka {

struct EpochName {
  std::uint64_t run = 0;
  std::uint32_t attempt = 0;
  std::uint64_t epoch = 0;

  friend bool operator==(const EpochName&, const EpochName&) = default;
};

// One attempt of a run of the job: later ones have larger numbers.
struct AttemptName {
  std::uint64_t run = 0;
  std::uint32_t attempt = 0;
};

// The newest epoch that is written, by run and attempt.
class Progress {
 public:
  bool has(const EpochName& name) const {
    const auto found = newest_.find({name.run, name.attempt});
    return found != newest_.end() && found->second >= name.epoch;
  }
  bool has_later(const AttemptName& than) const {
    const auto next = newest_.upper_bound({than.run, than.attempt});
    return next != newest_.end() && next->first.first == than.run;
  }
  void add(const EpochName& name) { newest_[{name.run, name.attempt}] = name.epoch; }

 private:
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> newest_;
};

std::string progress_topic(const SinkSettings& settings);

// Makes the topic, with at least so many partitions.
Status make_progress_topic(const Client& client, const SinkSettings& settings, int partitions);

// Of one subtask. Waits for the brokers.
Result<Progress> read_progress(const SinkSettings& settings, std::uint32_t writer);

// A failure where a later attempt of this run has noted something as this subtask, committed or
// not: whoever asks was given up, and would fence it. To be asked ahead of init_transactions.
Status refuse_beside_later(const SinkSettings& settings, std::uint32_t writer,
                           const AttemptName& self);

// Into the producer's open transaction.
Status note_progress(Producer& producer, const SinkSettings& settings, std::uint32_t writer,
                     const EpochName& name);

// Key and value of a note, as they are in the topic; false: it is none.
bool parse_note(std::string_view key, std::string_view value, EpochName& name);

}  // namespace hummer::kafka
