#include "operators/merge_operator.hpp"

#include <hummer/batch/key_order.hpp>

namespace hummer {

void MergeOperator::take(Batch& in) {
  std::unique_ptr<Waiting> waiting;
  if (spares_.empty()) {
    waiting = std::make_unique<Waiting>();
    waiting->batch = Batch(coding_->type(), in.capacity());
  } else {
    waiting = std::move(spares_.back());
    spares_.pop_back();
  }
  context().count_records(in.size());
  waiting->at = in.position();
  std::swap(waiting->batch, in);  // the driver gets a used one
  HUMMER_ASSERT(waiting->batch.make_unique());
  coding_->encode_keys(waiting->batch, waiting->keys);
  channels_[comes_by_].waiting.push_back(std::move(waiting));
}

std::size_t MergeOperator::wanted_channel() const {
  if (channels_.empty()) return any;
  if (!channels_[lacking_].ended) return lacking_;
  // It has ended with nothing to merge; that is seen with the next batch, whoever brings it.
  std::size_t wanted = any;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i].ended) continue;
    if (wanted == any || channels_[i].waiting.size() < channels_[wanted].waiting.size()) wanted = i;
  }
  return wanted;
}

OperatorResult MergeOperator::process(Batch& in, Output& out) {
  if (channels_.empty()) channels_ = std::vector<Channel>(1);  // one subtask ahead, in this chain
  if (!in.finished()) take(in);
  return merge(out);
}

OperatorResult MergeOperator::end(Output& out) {
  for (Channel& channel : channels_) channel.ended = true;
  return merge(out);
}

bool MergeOperator::go_on(Channel& channel) {
  channel.has_record = false;
  while (!channel.waiting.empty()) {
    const Waiting& first = *channel.waiting.front();
    if (first.at < first.batch.size()) {
      channel.key = first.keys.key(first.at);
      channel.prefix = batch::first_bytes(channel.key);
      channel.has_record = true;
      return true;
    }
    used_.push_back(std::move(channel.waiting.front()));
    channel.waiting.pop_front();
  }
  return channel.ended;
}

bool MergeOperator::goes_first(std::size_t a, std::size_t b) const {
  const Channel& first = channels_[a];
  const Channel& second = channels_[b];
  if (!first.has_record || !second.has_record) {
    return first.has_record != second.has_record ? first.has_record : a < b;
  }
  if (first.prefix != second.prefix) return first.prefix < second.prefix;
  const int order = batch::compare_bytes(first.key, second.key);
  return order != 0 ? order < 0 : a < b;
}

std::size_t MergeOperator::play_all(std::size_t node) {
  if (node >= channels_.size()) return node - channels_.size();
  const std::size_t left = play_all(2 * node);
  const std::size_t right = play_all(2 * node + 1);
  const bool left_wins = goes_first(left, right);
  losers_[node] = left_wins ? right : left;
  return left_wins ? left : right;
}

void MergeOperator::play_above(std::size_t channel) {
  std::size_t winner = channel;
  for (std::size_t node = (channel + channels_.size()) / 2; node >= 1; node /= 2) {
    if (goes_first(losers_[node], winner)) std::swap(losers_[node], winner);
  }
  winner_ = winner;
}

// Whether each channel has a first record, or has ended.
bool MergeOperator::begin() {
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (go_on(channels_[i])) continue;
    lacking_ = i;
    return false;
  }
  losers_.assign(channels_.size(), none);
  winner_ = channels_.size() == 1 ? 0 : play_all(1);
  return true;
}

OperatorResult MergeOperator::merge(Output& out) {
  if (losers_.empty()) {
    if (channels_.empty() || !begin()) return OperatorResult::done;
  } else if (!channels_[winner_].has_record) {
    if (!go_on(channels_[winner_])) return OperatorResult::done;
    play_above(winner_);
  }
  std::size_t room = out.soft_limit() - out.batch().size();
  while (channels_[winner_].has_record) {
    if (room-- == 0) {
      hand_out(out);
      return OperatorResult::more;
    }
    Channel& channel = channels_[winner_];
    Waiting& from = *channel.waiting.front();
    places_.push_back(
        {.values = from.batch.raw_mutable_values(),
         .times = from.batch.has_timestamps() ? from.batch.timestamps().data() : nullptr,
         .index = from.at++});
    if (!go_on(channel)) {
      lacking_ = winner_;
      break;
    }
    play_above(winner_);
  }
  hand_out(out);
  return OperatorResult::done;
}

void MergeOperator::hand_out(Output& out) {
  if (!places_.empty()) {
    Batch& to = out.batch();
    coding_->gather(places_, to);
    places_.clear();
    if (coding_->type().holds_views) {
      for (const auto& waiting : used_) to.keep_buffers_of(waiting->batch);
      for (const Channel& channel : channels_) {
        if (!channel.waiting.empty()) to.keep_buffers_of(channel.waiting.front()->batch);
      }
    }
  }
  for (auto& waiting : used_) {
    waiting->batch.clear();
    if (waiting->batch.has_storage()) spares_.push_back(std::move(waiting));
  }
  used_.clear();
}

std::unique_ptr<Operator> make_merge_operator(std::unique_ptr<RecordCoding> coding) {
  return std::make_unique<MergeOperator>(std::move(coding));
}

}  // namespace hummer
