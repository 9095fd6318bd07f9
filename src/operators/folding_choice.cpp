#include <hummer/detail/operators/folding_choice.hpp>

#include <algorithm>
#include <cmath>

#include <hummer/detail/checks.hpp>

namespace hummer {

FoldingChoice::FoldingChoice(Folding rule)
    : rule_(rule),
      folds_(rule != Folding::off),
      due_at_(rule == Folding::automatic ? early_look_records : no_look) {}

void FoldingChoice::open(bool cheap_exchange, bool epochs_last) {
  cheap_exchange_ = cheap_exchange;
  epochs_last_ = epochs_last;
  if (due_at_ != no_look) due_at_ = first_look();
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
  if (held_ >= look_records) {
    const bool further = records_then_ >= look_records;
    const bool ends = further ? is_hopeless_by_now(parts) : is_hopeless(static_cast<double>(parts));
    records_then_ = held_;
    parts_then_ = parts;
    due_at_ = held_ + look_records;
    return ends;
  }
  records_then_ = held_;
  while (due_at_ <= held_) due_at_ *= look_factor;
  early_share_ = static_cast<double>(parts) / static_cast<double>(held_);
  return early_share_ > hopeless_early;
}

// New keys become fewer, by about as much each time that the records are as many again (a power
// law, which is what skewed keys follow; uniform ones become fewer than it says).
bool FoldingChoice::is_hopeless(double parts) const {
  const double share = parts / static_cast<double>(held_);
  if (!cheap_exchange_) return share > hopeless;
  if (epochs_last_ && knows_its_keys(share)) return false;
  const double falls_to = share / std::max(early_share_, share);
  const double grows_to = falls_to * look_factor;
  if (grows_to <= 1 || parts >= most_parts) return share > most_share();
  const double times = std::log(most_parts / parts) / std::log(grows_to);
  return share * std::pow(falls_to, times) > most_share();
}

// By what has come since the last look. Some may have gone out since.
bool FoldingChoice::is_hopeless_by_now(std::uint64_t parts) const {
  if (parts <= parts_then_ || held_ <= records_then_) return false;
  const double share =
      static_cast<double>(parts - parts_then_) / static_cast<double>(held_ - records_then_);
  return share > (cheap_exchange_ && !epochs_last_ ? pass_above : hopeless);
}

// Whether parts became fewer since the last look as where keys are drawn from so many, each as
// often, that they fit into an epoch: behind all of them there is no new part.
bool FoldingChoice::knows_its_keys(double share) const {
  // Of records whose number is `times` that of the keys.
  const auto share_at = [](double times) { return -std::expm1(-times) / times; };
  double low = static_cast<double>(held_) / most_parts;
  if (share >= share_at(low)) return false;
  double high = std::max(1 / share, low);  // where the share is less than 1 / times
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (share_at(middle) > share ? low : high) = middle;
  }
  constexpr double about = 0.97;
  return early_share_ >= about * share_at(low / look_factor);
}

void FoldingChoice::hand_on(std::uint64_t records, std::uint64_t parts) {
  HUMMER_ASSERT(records <= held_);
  held_ -= records;
  records_ += records;
  parts_ += parts;
  shown_.parts.add(parts);
  if (parts > 0) (probe_ == Probe::none ? shown_.epochs_folded : shown_.epochs_probed).add();
  if (rule_ != Folding::automatic || records == 0) return;
  if (probe_ != Probe::brief) due_at_ = first_look();
  if (records_ < judged_records) return;
  const double share = static_cast<double>(parts_) / static_cast<double>(records_);
  shown_.parts_per_record.set(share);
  if (probe_ != Probe::brief) {
    whole_ = records_;
    passed_since_whole_ = 0;
  }
  records_ = parts_ = 0;
  if (share > most_share() * (probe_ == Probe::none ? 1 : fold_below)) {
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
  due_at_ = probe == Probe::brief ? probe_records : first_look();
}

void FoldingChoice::begin_to_pass() {
  folds_ = false;
  shown_.folds.set(0);
  to_pass_ = interval_;
  interval_ = std::min(2 * interval_, longest_interval);
}

}  // namespace hummer
