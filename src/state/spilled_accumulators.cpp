#include <hummer/detail/state/spilled_accumulators.hpp>

namespace hummer {

void SpilledAccumulators::open_deltas(OperatorContext& context) {
  context_ = &context;
  options_.combine = combine_with(aggregate_);
}

void SpilledAccumulators::open_values(OperatorContext& context) { context_ = &context; }

Status SpilledAccumulators::advance(std::size_t entries) {
  if (store_ == nullptr) return {};
  if (store_->leaving()) HUMMER_TRY(store_->keep_pace(entries));
  return store_->advance();
}

void SpilledAccumulators::leave(std::shared_ptr<const AccumulatorTableBase> table,
                                std::size_t of_entries) {
  if (store_ == nullptr) {
    options_.keys_are_hashed = table->keys().hash_is_of_written_bytes();
    store_ = make_spilled_store(*context_, options_);
  }
  store_->leave(std::make_shared<LeavingTable>(std::move(table), of_entries));
}

Status SpilledAccumulators::fetch(AccumulatorTableBase& table, std::string_view key) {
  if (table.find(key) != nullptr) return {};
  ByteWriter bytes(key_space_, true);
  table.keys().write(key, bytes);
  const Result<bool> found = store_->find(table.keys().hash_of(key), bytes.view(), value_space_);
  if (!found.ok()) return found.status();
  if (!*found) return {};
  // Read once ahead of the entry: what cannot be decoded leaves none behind.
  ByteReader check(value_space_);
  if (!aggregate_.read(check, nullptr, false, true) || check.left() != 0) {
    return undecodable_accumulator();
  }
  const auto [accumulator, is_new] = table.find_or_add_accumulator(key);
  ByteReader value(value_space_);
  HUMMER_ASSERT(aggregate_.read(value, accumulator, is_new, true));
  return {};
}

}  // namespace hummer
