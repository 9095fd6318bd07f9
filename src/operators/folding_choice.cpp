#include <hummer/detail/operators/folding_choice.hpp>

#include <algorithm>

#include <hummer/detail/checks.hpp>

namespace hummer {

FoldingChoice::FoldingChoice(Folding rule)
    : rule_(rule),
      folds_(rule != Folding::off),
      due_at_(rule == Folding::automatic ? early_look_records : no_look) {}

void FoldingChoice::open() const {
  for (const Counter* counter :
       {&shown_.epochs_folded, &shown_.epochs_passed, &shown_.epochs_probed, &shown_.parts,
        &shown_.records_folded, &shown_.records_passed}) {
    counter->add(0);
  }
  shown_.folds.set(folds_ ? 1 : 0);
  shown_.parts_per_record.set(0);
}

void FoldingChoice::pass(std::uint64_t records) {
  shown_.records_passed.add(records);
  if (rule_ == Folding::off) return;
  passed_since_whole_ += records;
  to_pass_ -= std::min(to_pass_, records);
  if (to_pass_ > 0) return;
  shown_.epochs_passed.add();
  const bool long_ago = passed_since_whole_ / long_probe_every >= whole_;
  begin_to_fold(long_ago ? Probe::whole : Probe::brief);
}

bool FoldingChoice::ends_epoch(std::uint64_t parts) {
  if (probe_ == Probe::brief) return true;
  const bool is_early = held_ < look_records;
  due_at_ = is_early ? look_records : no_look;
  return static_cast<double>(parts) >
         (is_early ? hopeless_early : hopeless) * static_cast<double>(held_);
}

void FoldingChoice::hand_on(std::uint64_t records, std::uint64_t parts) {
  HUMMER_ASSERT(records <= held_);
  held_ -= records;
  records_ += records;
  parts_ += parts;
  shown_.parts.add(parts);
  if (parts > 0) (probe_ == Probe::none ? shown_.epochs_folded : shown_.epochs_probed).add();
  if (rule_ != Folding::automatic || records == 0) return;
  if (probe_ != Probe::brief) due_at_ = early_look_records;
  if (records_ < judged_records) return;
  const double share = static_cast<double>(parts_) / static_cast<double>(records_);
  shown_.parts_per_record.set(share);
  if (probe_ != Probe::brief) {
    whole_ = records_;
    passed_since_whole_ = 0;
  }
  records_ = parts_ = 0;
  if (share > (probe_ == Probe::none ? pass_above : fold_below)) {
    begin_to_pass();
  } else if (probe_ != Probe::none) {
    interval_ = std::max(interval_ / 2, first_interval);
    begin_to_fold(Probe::none);
  }
}

void FoldingChoice::begin_to_fold(Probe probe) {
  folds_ = true;
  if (probe == Probe::none) shown_.folds.set(1);  // a probe is no choice yet
  probe_ = probe;
  due_at_ = probe == Probe::brief ? probe_records : early_look_records;
}

void FoldingChoice::begin_to_pass() {
  folds_ = false;
  shown_.folds.set(0);
  to_pass_ = interval_;
  interval_ = std::min(2 * interval_, longest_interval);
}

}  // namespace hummer
