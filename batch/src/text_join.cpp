#include "text_join.hpp"

#include <hummer/detail/key_hash.hpp>

namespace hummer::batch {
namespace {

std::string_view field_in(std::string_view key) {
  return key.substr(0, key.empty() ? 0 : key.size() - 1);
}

int compare_fields(std::string_view a, std::string_view b) {
  return compare_bytes(field_in(a), field_in(b));
}

int compare_fields_and_inputs(std::string_view a, std::string_view b) {
  const int order = compare_fields(a, b);
  if (order != 0 || a.empty() || b.empty()) return order;
  return a.back() - b.back();
}

std::uint64_t prefix_of_field(std::string_view key) { return first_bytes(field_in(key)); }

constexpr ForeignKeyOrder sort_order = {"join", &compare_fields_and_inputs, &prefix_of_field};
constexpr ForeignKeyOrder group_order = {"join field", &compare_fields, &prefix_of_field};

}  // namespace

KeyOrder join_sort_order() { return KeyOrder(sort_order); }
KeyOrder join_group_order() { return KeyOrder(group_order); }

Status JoinMapper::open(TaskContext& context) {
  input_ = static_cast<char>(context.input());
  return Status();
}

void JoinMapper::map_record(const RecordView& line, MapOutput& output) {
  const std::string_view text = line.value();
  const std::size_t tab = text.find('\t');
  key_.assign(text.substr(0, tab));
  key_.push_back(input_);
  output.emit(key_, tab == std::string_view::npos ? std::string_view() : text.substr(tab));
}

Status JoinPartitioner::partition(std::span<const RecordView> records, std::uint32_t partitions,
                                  std::span<std::uint32_t> into) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string_view field = field_in(records[i].key());
    const std::uint64_t hash = hash_bytes(field.data(), field.size());
    into[i] = static_cast<std::uint32_t>(((hash >> 32) * partitions) >> 32);
  }
  return Status();
}

void JoinReducer::reduce_group(GroupReader& group, RecordOutput& output) {
  first_.clear();
  while (group.next_value()) {
    const std::string_view key = group.record().key();
    if (key.back() == 0) {
      first_.emplace_back(group.value());
      continue;
    }
    for (const std::string& rest : first_) {
      joined_.assign(rest.empty() ? rest : rest.substr(1));
      if (joined_.empty() && !group.value().empty()) {
        joined_.assign(group.value().substr(1));
      } else {
        joined_.append(group.value());
      }
      output.emit(field_in(key), joined_);
    }
  }
}

}  // namespace hummer::batch
