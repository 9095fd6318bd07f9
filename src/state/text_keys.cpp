#include <hummer/detail/state/text_keys.hpp>

#include <cstring>

#include <hummer/status.hpp>

#include "state/text_keys_kernels.hpp"

namespace hummer {
namespace {

KeySlots::Table plan_of(const SlotsPlan& plan) {
  return {plan.entries, plan.shift, plan.entry_bytes};
}

template <void (*find)(const KeyView*, std::size_t, const KeySlots&, KeyLists&)>
void find_text_keys(const std::string_view* views, std::size_t count, const TextSlotsPlan& plan,
                    TextKeys& keys) {
  const KeySlots slots{plan_of(plan.shorts), plan_of(plan.mediums), plan_of(plan.wides)};
  KeyLists lists{keys.short_keys,
                 keys.short_places,
                 keys.medium_keys,
                 keys.medium_places,
                 keys.wide_keys,
                 keys.wide_places,
                 keys.long_indexes,
                 0,
                 0,
                 0,
                 0};
  find(reinterpret_cast<const KeyView*>(views), count, slots, lists);
  keys.short_count = lists.short_count;
  keys.medium_count = lists.medium_count;
  keys.wide_count = lists.wide_count;
  keys.long_count = lists.long_count;
}

}  // namespace

FindTextKeys text_keys_function(InstructionSet level) {
  // The loops read views as (length, pointer); make sure that this library writes them so.
  const char letters[2] = {'a', 'b'};
  const std::string_view view(letters, 2);
  KeyView same;
  static_assert(sizeof same == sizeof view);
  std::memcpy(&same, &view, sizeof same);
  HUMMER_ASSERT(same.length == 2 && same.data == letters);
  switch (level) {
    case InstructionSet::v4: return find_text_keys<find_text_keys_v4>;
    case InstructionSet::v3: return find_text_keys<find_text_keys_v3>;
    case InstructionSet::v2: break;
  }
  return find_text_keys<find_text_keys_v2>;
}

}  // namespace hummer
