// FoldingChoice: whether a partial operator folds records ahead of the exchange, or passes each
// on, as a part of its own or as it is (adaptive partial aggregation; a bypass). Folding pays where
// keys repeat within an epoch; where they hardly do it is a look-up more per record and saves
// nothing.
//
//   if (!choice.folds()) return pass(in, out);     // and choice.pass(records)
//   ... fold ...; choice.fold(records);
//   if (choice.is_due() && choice.ends_epoch(parts_held)) emit everything;
//   ... emitted: choice.hand_on(records, parts);
//
// It counts what folding saves: parts handed on per record folded. More than pass_above, which is
// less where the exchange costs little: records pass, and now and then a probe folds again: a short
// one, which is over after probe_records, and rarely one as long as an epoch was, since keys that
// do not repeat in few records may in many. A probe shows at most more parts per record than its
// epoch would, never less; so what it shows to be worth folding is. Intervals double while probes
// say nothing new; folding in probes stays
// below 2 % of the records. An epoch in which almost every record makes a part ends early, and so
// does a long one in which keys stop to repeat.
//
// What it chose and why is seen in the operator's metrics (engine_metrics.hpp): records folded and
// passed, parts handed on of those folded, the epochs of each kind (one of passing is a stretch
// between two probes), whether it folds now, and the parts per record by which it last decided.
// They are counted per batch and per epoch, within the operator's MetricsScope.
//
// Nothing depends on the choice but speed: an operator hands on what it holds when an epoch ends,
// whatever is chosen by then. The choice changes only where parts have gone out, and behind records
// that have passed. It is saved nowhere: after a restore it begins by folding.
//
// Thread: that of the operator. Cost: a few additions per batch and per epoch; reads no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <hummer/detail/checks.hpp>
#include <hummer/detail/engine_metrics.hpp>
#include <hummer/detail/plan.hpp>
#include <hummer/metrics.hpp>

namespace hummer {

// The bypass is port 1 of a partial operator: by it records pass as they are, where they are no
// larger than parts. An edge leads from there to the half that merges. `beside`: bytes that go with
// each record.
template <typename In, typename Part, std::size_t beside = 0>
inline constexpr bool passes_as_it_is =
    std::is_trivially_copyable_v<In> && !holds_views<In> && sizeof(In) + beside <= sizeof(Part);

class FoldingChoice {
 public:
  // Parts per record.
  static constexpr double pass_above = 0.5;
  static constexpr double pass_above_if_cheap = 0.15;
  static constexpr double fold_below = 0.8;  // of pass_above, by a probe
  // Within an epoch, at looks before look_records, and then; where the exchange is cheap
  // pass_above_if_cheap is asked then of what an epoch with most_parts would come to, unless it
  // lasts and has met about all of its keys before.
  static constexpr double hopeless_early = 0.975;
  static constexpr double hopeless = 0.85;
  // Records.
  static constexpr std::uint64_t judged_records = 10'000;   // fewer say nothing
  static constexpr std::uint64_t look_records = 512 << 10;  // and as many between further looks
  static constexpr std::uint64_t look_factor = 4;           // between two looks
  static constexpr std::uint64_t early_look_records = look_records / look_factor;
  static constexpr std::uint64_t early_look_records_if_cheap = early_look_records / look_factor;
  static constexpr std::uint64_t probe_records = 64 << 10;
  static constexpr std::uint64_t first_interval = 1 << 20;
  static constexpr std::uint64_t longest_interval = 16 << 20;
  static constexpr std::uint64_t long_probe_every = 64;  // times its length
  static constexpr double most_parts = 2 << 20;          // of an epoch, about

  explicit FoldingChoice(Folding rule = Folding::automatic);

  // In open(): shows the metrics from the start. A cheap exchange is one in memory. Epochs last
  // that end only where the table has no more room.
  void open(bool cheap_exchange, bool epochs_last);
  bool folds() const { return folds_; }

  void fold(std::uint64_t records) {
    held_ += records;
    shown_.records_folded.add(records);
  }
  // So many records have passed.
  void pass(std::uint64_t records);

  // Whether to ask ends_epoch.
  bool is_due() const { return held_ >= due_at_; }
  // Whether all that is held is to go out now: `parts` are held.
  bool ends_epoch(std::uint64_t parts);
  // Of what was folded, `records` have gone out as `parts`.
  void hand_on(std::uint64_t records, std::uint64_t parts);
  // All that was folded.
  void end_epoch(std::uint64_t parts) { hand_on(held_, parts); }

  // Where the halves share a table, which keeps own keys: of the records, so many are handed on as
  // parts one day.
  void fold_shared(std::uint64_t records, std::uint64_t of_others) {
    held_ += of_others;
    shown_.records_folded.add(records);
  }

 private:
  enum class Probe : std::uint8_t { none, brief, whole };
  struct Shown {
    Counter epochs_folded{detail::epochs_folded.name};
    Counter epochs_passed{detail::epochs_passed.name};
    Counter epochs_probed{detail::epochs_probed.name};
    Counter parts{detail::parts_handed_on.name};
    Counter records_folded{detail::records_folded.name};
    Counter records_passed{detail::records_passed.name};
    Gauge folds{detail::folds_now.name};
    Gauge parts_per_record{detail::parts_per_record.name};
  };
  static constexpr std::uint64_t no_look = UINT64_MAX;

  double most_share() const { return cheap_exchange_ ? pass_above_if_cheap : pass_above; }
  std::uint64_t first_look() const {
    return cheap_exchange_ ? early_look_records_if_cheap : early_look_records;
  }
  bool is_hopeless(double parts) const;
  bool is_hopeless_by_now(std::uint64_t parts) const;
  bool knows_its_keys(double share) const;
  void begin_to_fold(Probe probe);
  void begin_to_pass();

  const Folding rule_;
  bool cheap_exchange_ = false;
  bool epochs_last_ = false;
  // Of the epoch at hand, at its last look.
  double early_share_ = 0;  // parts per record
  std::uint64_t records_then_ = 0;
  std::uint64_t parts_then_ = 0;
  bool folds_;
  Probe probe_ = Probe::none;
  std::uint64_t held_ = 0;
  std::uint64_t due_at_;
  // Handed on, since it was last judged.
  std::uint64_t records_ = 0;
  std::uint64_t parts_ = 0;
  std::uint64_t to_pass_ = 0;
  std::uint64_t interval_ = first_interval;
  std::uint64_t whole_ = look_records;  // records of the last whole epoch that was judged
  std::uint64_t passed_since_whole_ = 0;
  Shown shown_;
};

}  // namespace hummer
