#include <hummer/detail/state/accumulator_table.hpp>

#include <tuple>

#include <hummer/detail/state/erased_aggregate.hpp>

namespace hummer {

AccumulatorTableBase::AccumulatorTableBase(AccumulatorTableBase&& other) noexcept = default;
AccumulatorTableBase& AccumulatorTableBase::operator=(AccumulatorTableBase&& other) noexcept =
    default;
AccumulatorTableBase::~AccumulatorTableBase() = default;

bool AccumulatorTableBase::clear_some(std::size_t bytes) {
  if (!clear_outside(bytes) || !HashTable::clear_some(bytes)) return false;
  saved_.clear();
  return true;
}

std::pair<void*, bool> AccumulatorTableBase::find_or_add_accumulator(std::string_view key) {
  const auto [value, is_new] = HashTable::find_or_add(key, saving());
  return {reach(value, is_new), is_new};
}

SaveReference AccumulatorTableBase::saving() {
  return SaveReference(this, [](void* of, std::string_view key, const void* value) {
    auto& table = *static_cast<AccumulatorTableBase*>(of);
    table.saved_.add(table.keys().hash_of(key),
                     [&](ByteWriter& out) { table.write_entry(key, value, out); });
  });
}

void AccumulatorTableBase::write_entry(std::string_view key, const void* value,
                                       ByteWriter& out) const {
  out.put_value(entry_follows);
  keys().write(key, out);
  encode(value, out);
}

void AccumulatorTableBase::write_entries(std::span<const FoundEntry> found, GroupedEntries& entries,
                                         ByteWriter& out) const {
  const KeyCodec& codec = keys();
  for (const FoundEntry& each : found) {
    entries.add(codec.hash_of(each.key), out,
                [&](ByteWriter& to) { write_entry(each.key, each.value, to); });
  }
}

bool AccumulatorTableBase::freeze(bool may_be_delta) {
  saved_.clear();
  return HashTable::freeze(may_be_delta);
}

bool AccumulatorTableBase::write_frozen(GroupedEntries& entries, ByteWriter& out,
                                        std::size_t until_bytes) {
  while (!saved_.empty()) {
    if (entries.enough(out, until_bytes)) return false;
    saved_.write_chunk(entries, out);
  }
  FoundEntries found;
  for (;;) {
    const FrozenRead read = read_frozen(found);
    write_entries(std::span(found.entries).first(found.count), entries, out);
    // From there on the table is nobody's but its owner's, who has to know, however full the step.
    if (read == FrozenRead::all) return true;
    if (read == FrozenRead::paused || (found.count > 0 && entries.enough(out, until_bytes))) {
      return false;
    }
  }
}

AccumulatorTableBase::Restored AccumulatorTableBase::restore(ByteReader& in, const OwnsKey& owns,
                                                             const ErasedAggregate& aggregate,
                                                             bool replace) {
  constexpr int entries_per_call = 4096;
  std::string space;
  for (int entries = 0; entries < entries_per_call; ++entries) {
    in.let_go();
    std::uint8_t mark = 0;
    if (!in.get_value(mark) || mark > entry_follows) return Restored::not_valid;
    if (mark == end_of_entries) return Restored::all;
    std::string_view key;
    if (!keys().read(in, space, key)) return Restored::not_valid;
    void* accumulator = nullptr;
    bool is_new = false;
    if (owns(keys().hash_of(key))) {
      std::tie(accumulator, is_new) = find_or_add_accumulator(key);
    }
    if (!aggregate.read(in, accumulator, is_new, replace)) return Restored::not_valid;
  }
  return Restored::some;
}

}  // namespace hummer
