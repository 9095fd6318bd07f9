#include <hummer/detail/saved_layouts.hpp>

#include <algorithm>
#include <utility>

#include "base/number_widening.hpp"
#include "base/type_grammar.hpp"

namespace hummer::detail {

struct SavedLayouts::Layout {
  std::string text;  // what `type` looks at
  ParsedType type;
};

// Of one name there is one layout: check_states refuses others.
SavedLayouts::SavedLayouts(const std::vector<StateDescription>& saved,
                           const std::vector<StateDescription>& own) {
  for (const StateDescription& before : saved) {
    const bool changed = std::any_of(own.begin(), own.end(), [&](const StateDescription& now) {
      return now.name == before.name && !can_read_key_type(before.type, now.type);
    });
    if (!changed) continue;
    for (const std::string_view layout : named_types_in(before.type)) {
      const bool known = std::any_of(layouts_.begin(), layouts_.end(),
                                     [&](const auto& one) { return one->text == layout; });
      if (known) continue;
      auto one = std::make_unique<Layout>();
      one->text = layout;
      std::optional<ParsedType> type = parse_type(one->text);
      if (!type) continue;
      one->type = std::move(*type);
      layouts_.push_back(std::move(one));
    }
  }
}

SavedLayouts::~SavedLayouts() = default;

bool SavedLayouts::know(std::string_view type) const {
  const std::vector<std::string_view> named = named_types_in(type);
  return std::all_of(named.begin(), named.end(), [&](std::string_view layout) {
    return std::any_of(layouts_.begin(), layouts_.end(),
                       [&](const auto& one) { return one->text == layout; });
  });
}

const LayoutPlan* SavedLayouts::make_plan(const void* type, std::string_view name,
                                          std::span<const OwnField> own) const {
  LayoutPlan& plan = *plans_.emplace_back(std::make_unique<LayoutPlan>());
  plan.type = type;
  const auto layout = std::find_if(layouts_.begin(), layouts_.end(),
                                   [&](const auto& one) { return one->type.head == name; });
  if (layout == layouts_.end()) return nullptr;  // of a state that has not changed
  const std::vector<ParsedType>& saved = (*layout)->type.parts;
  plan.unchanged = saved.size() == own.size();
  for (std::size_t i = 0; i < saved.size(); ++i) {
    LayoutPlan::Step& step = plan.steps.emplace_back();
    const auto field = std::find_if(
        own.begin(), own.end(), [&](const OwnField& each) { return each.name == saved[i].field; });
    if (field == own.end()) {
      step.read = LayoutPlan::Read::passed_over;
      step.saved_type = &saved[i];
    } else {
      step.field = static_cast<std::uint16_t>(field - own.begin());
      if (is_widening(saved[i].text, field->type)) {
        step.read = LayoutPlan::Read::widened;
        step.from = number_kind(saved[i].text);
      }
    }
    plan.unchanged = plan.unchanged && step.read == LayoutPlan::Read::as_own && step.field == i;
  }
  return plan.unchanged ? nullptr : &plan;
}

bool can_read_saved(std::string_view saved, std::string_view own, const ByteReader& in) {
  if (can_read_key_type(saved, own)) return true;
  return can_read_type(saved, own) && in.layouts() != nullptr && in.layouts()->know(saved);
}

bool pass_over_saved(const ParsedType& type, ByteReader& in) { return pass_over(type, in); }

}  // namespace hummer::detail
