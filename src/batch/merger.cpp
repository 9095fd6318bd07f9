#include "batch/merger.hpp"

#include <utility>

namespace hummer::batch {
namespace {

constexpr std::size_t most_merged_views = 256;

}  // namespace

Merger::Merger(KeyOrder order, std::vector<std::unique_ptr<RecordStream>> streams)
    : order_(order), inputs_(streams.size()), running_(streams.size()) {
  for (std::size_t i = 0; i < streams.size(); ++i) inputs_[i].stream = std::move(streams[i]);
  if (inputs_.size() < 2) return;
  losers_.resize(inputs_.size());
  views_.resize(most_merged_views);
}

Status Merger::go_on(Input& input) {
  auto records = input.stream->next();
  if (!records.ok()) return records.status();
  if (records->empty()) {
    input.at = input.end = nullptr;
    input.prefix = ~std::uint64_t{0};
    --running_;
    return Status();
  }
  input.at = records->data();
  input.end = input.at + records->size();
  input.prefix = order_.long_prefix(input.at->key());
  return Status();
}

template <typename Form>
bool Merger::beats(const Form& form, std::uint32_t a, std::uint32_t b) const {
  const Input& input_of_a = inputs_[a];
  const Input& input_of_b = inputs_[b];
  if (input_of_a.prefix != input_of_b.prefix) return input_of_a.prefix < input_of_b.prefix;
  if (input_of_a.at == nullptr || input_of_b.at == nullptr) return input_of_a.at != nullptr;
  if constexpr (Form::decided_by == 0) {
    const int order = form.compare(input_of_a.at->key(), input_of_b.at->key());
    if (order != 0) return order < 0;
  }
  return a < b;
}

// Inputs are the leaves: nodes inputs_.size() and up.
template <typename Form>
std::uint32_t Merger::play_all(const Form& form, std::uint32_t node) {
  const auto inputs = static_cast<std::uint32_t>(inputs_.size());
  if (node >= inputs) return node - inputs;
  const std::uint32_t left = play_all(form, 2 * node);
  const std::uint32_t right = play_all(form, 2 * node + 1);
  const bool left_wins = beats(form, left, right);
  losers_[node] = left_wins ? right : left;
  return left_wins ? left : right;
}

template <typename Form>
std::uint32_t Merger::play_above(const Form& form, std::uint32_t input) {
  std::uint32_t winner = input;
  for (std::size_t node = (inputs_.size() + input) / 2; node > 0; node /= 2) {
    if (beats(form, losers_[node], winner)) std::swap(losers_[node], winner);
  }
  return winner;
}

template <typename Form>
std::size_t Merger::take(const Form& form) {
  std::size_t count = 0;
  while (count < views_.size()) {
    Input& input = inputs_[winner_];
    if (input.at == nullptr) break;  // all have ended
    views_[count++] = *input.at++;
    if (input.at == input.end) {
      waiting_ = winner_;
      break;
    }
    input.prefix = form.long_prefix(input.at->key());
    winner_ = play_above(form, winner_);
  }
  return count;
}

Status Merger::begin() {
  for (Input& input : inputs_) HUMMER_TRY(go_on(input));
  winner_ = order_.visit([this](auto form) { return play_all(form, 1); });
  return Status();
}

Result<std::span<const RecordView>> Merger::next() {
  if (inputs_.empty()) return std::span<const RecordView>();
  if (inputs_.size() == 1) return inputs_.front().stream->next();
  if (winner_ == none) {
    HUMMER_TRY(begin());
  } else if (waiting_ != none) {
    HUMMER_TRY(go_on(inputs_[waiting_]));
    winner_ = order_.visit([this](auto form) { return play_above(form, waiting_); });
    waiting_ = none;
  }
  if (running_ == 1) {
    Input& input = inputs_[winner_];
    const std::span<const RecordView> rest(input.at, input.end);
    input.at = input.end;
    waiting_ = winner_;
    return rest;
  }
  const std::size_t count = order_.visit([this](auto form) { return take(form); });
  return std::span<const RecordView>(views_.data(), count);
}

}  // namespace hummer::batch
