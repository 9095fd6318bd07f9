#include "operators/merge_join.hpp"

#include <hummer/batch/key_order.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace hummer {
namespace {

using batch::RecordView;

// Keys that are compared in one call, so that a cancellation is seen soon.
constexpr int keys_per_call = 16 << 10;
constexpr std::size_t scan_buffer = std::size_t{64} << 10;

}  // namespace

Result<bool> MergeJoin::Side::fetch() {
  if (!rest.empty()) return true;
  if (ended) return false;
  auto records = stream->next();
  if (!records.ok()) return records.status();
  rest = *records;
  ended = rest.empty();
  return !ended;
}

MergeJoin::MergeJoin(Platform& platform, MergeJoinOptions options, batch::RecordStream& first,
                     batch::RecordStream& second)
    : platform_(platform),
      options_(std::move(options)),
      first_{.stream = &first, .rest = {}},
      second_{.stream = &second, .rest = {}} {}

std::string_view MergeJoin::copy(std::string_view value) {
  auto bytes = std::make_unique_for_overwrite<char[]>(std::max<std::size_t>(value.size(), 1));
  if (!value.empty()) std::memcpy(bytes.get(), value.data(), value.size());
  copies_.push_back(std::move(bytes));
  copied_bytes_ += value.size() + sizeof(std::string_view) + sizeof(void*);
  return {copies_.back().get(), value.size()};
}

Result<bool> MergeJoin::produce(JoinPairs& pairs) {
  for (;;) {
    Result<bool> goes_on = false;  // whether there is more to do in this call
    switch (state_) {
      case State::comparing: goes_on = compare(pairs); break;
      case State::collecting: goes_on = collect(pairs); break;
      case State::pairing: goes_on = pair(pairs); break;
      case State::blocking: goes_on = gather_block(); break;
      case State::scanning: goes_on = scan(pairs); break;
      case State::done: return false;
    }
    if (!goes_on.ok()) return goes_on.status();
    if (!*goes_on) return state_ != State::done;
  }
}

// Goes to the next key that both sides have.
Result<bool> MergeJoin::compare(JoinPairs& pairs) {
  for (int i = 0; i < keys_per_call; ++i) {
    if (pairs.full() || must_flush(first_, pairs) || must_flush(second_, pairs)) return false;
    auto has_first = first_.fetch();
    if (!has_first.ok()) return has_first.status();
    auto has_second = second_.fetch();
    if (!has_second.ok()) return has_second.status();
    if (!*has_first && !*has_second) {
      state_ = State::done;
      return false;
    }
    const int order =
        !*has_second  ? -1
        : !*has_first ? 1
                      : batch::compare_bytes(first_.rest.front().key(), second_.rest.front().key());
    if (order == 0) {
      HUMMER_TRY(begin_group());
      return true;
    }
    Side& smaller = order < 0 ? first_ : second_;
    const bool is_kept = order < 0 ? keeps_first(options_.kind) : keeps_second(options_.kind);
    if (is_kept) pairs.add_alone(order < 0 ? 0 : 1, smaller.rest.front().value());
    smaller.rest = smaller.rest.subspan(1);
  }
  return false;
}

// Of the second side, where they are: as most groups lie within a span.
Status MergeJoin::begin_group() {
  const auto& records = second_.rest;
  const std::string_view key = records.front().key();
  key_.assign(key);
  group_.clear();
  next_in_group_ = 0;
  std::size_t count = 0;
  while (count < records.size() && records[count].key() == key_) {
    group_.push_back(records[count++].value());
  }
  second_.rest = records.subspan(count);
  state_ = second_.rest.empty() ? State::collecting : State::pairing;
  return Status();
}

// Those of further spans, for which the ones that are known have to be copied.
Result<bool> MergeJoin::collect(JoinPairs& pairs) {
  if (!pairs.empty()) return false;  // they may be of the span, or of copies, that go
  if (copied_bytes_ == 0) {
    for (std::string_view& value : group_) value = copy(value);
  }
  auto has_more = second_.fetch();
  if (!has_more.ok()) return has_more.status();
  std::size_t count = 0;
  while (count < second_.rest.size() && second_.rest[count].key() == key_) {
    group_.push_back(copy(second_.rest[count++].value()));
  }
  second_.rest = second_.rest.subspan(count);
  if (copied_bytes_ > options_.memory_bytes) HUMMER_TRY(spill_group());
  if (!second_.rest.empty() || second_.ended) {
    if (group_writer_) {
      HUMMER_TRY(spill_group());
      HUMMER_TRY(group_writer_->end_partition());
      auto file = group_writer_->finish();
      if (!file.ok()) return file.status();
      group_file_.emplace(std::move(*file));
      group_writer_.reset();
      state_ = State::blocking;
    } else {
      state_ = State::pairing;
    }
    return true;
  }
  return false;
}

// What was copied of the group goes to its file.
Status MergeJoin::spill_group() {
  if (!group_writer_) {
    auto writer =
        batch::SpillWriter::create(platform_, options_.spill_directory, 1, batch::Codec::none);
    if (!writer.ok()) return writer.status();
    group_writer_.emplace(std::move(*writer));
  }
  for (const std::string_view value : group_) {
    const RecordView record{.key_data = nullptr,
                            .value_data = value.data(),
                            .key_bytes = 0,
                            .value_bytes = static_cast<std::uint32_t>(value.size())};
    HUMMER_TRY(group_writer_->append({&record, 1}));
  }
  group_.clear();
  copies_.clear();
  copied_bytes_ = 0;
  return Status();
}

// Each record of the first side with the group.
Result<bool> MergeJoin::pair(JoinPairs& pairs) {
  for (;;) {
    if (must_flush(first_, pairs)) return false;
    auto has_first = first_.fetch();
    if (!has_first.ok()) return has_first.status();
    if (!*has_first || first_.rest.front().key() != key_) break;
    const std::string_view value = first_.rest.front().value();
    while (next_in_group_ < group_.size()) {
      if (pairs.full()) return false;
      pairs.add(value, group_[next_in_group_++]);
    }
    next_in_group_ = 0;
    first_.rest = first_.rest.subspan(1);
  }
  if (copied_bytes_ != 0) {
    if (!pairs.empty()) return false;
    copies_.clear();
    copied_bytes_ = 0;
  }
  group_.clear();
  state_ = State::comparing;
  return true;
}

// Records of the first side, as many as have room.
Result<bool> MergeJoin::gather_block() {
  block_.clear();
  copies_.clear();
  copied_bytes_ = 0;
  while (copied_bytes_ <= options_.memory_bytes) {
    auto has_first = first_.fetch();
    if (!has_first.ok()) return has_first.status();
    if (!*has_first || first_.rest.front().key() != key_) break;
    block_.push_back(copy(first_.rest.front().value()));
    first_.rest = first_.rest.subspan(1);
  }
  if (block_.empty()) {
    group_file_.reset();
    state_ = State::comparing;
    return true;
  }
  scan_ = group_file_->open(0, scan_buffer);
  scanned_ = {};
  next_in_block_ = 0;
  state_ = State::scanning;
  return true;
}

Result<bool> MergeJoin::scan(JoinPairs& pairs) {
  for (;;) {
    if (scanned_.empty()) {
      if (!pairs.empty()) return false;
      auto records = scan_->next();
      if (!records.ok()) return records.status();
      scanned_ = *records;
      if (scanned_.empty()) {
        scan_.reset();
        state_ = State::blocking;
        return true;
      }
    }
    const std::string_view value = scanned_.front().value();
    while (next_in_block_ < block_.size()) {
      if (pairs.full()) return false;
      pairs.add(block_[next_in_block_++], value);
    }
    next_in_block_ = 0;
    scanned_ = scanned_.subspan(1);
  }
}

}  // namespace hummer
