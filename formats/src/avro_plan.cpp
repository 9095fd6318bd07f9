#include "avro_plan.hpp"

#include <algorithm>

namespace hummer::formats {
namespace {

bool is_text(ValueKind kind) { return kind == ValueKind::view || kind == ValueKind::string; }
bool is_integer(ValueKind kind) { return kind >= ValueKind::i8 && kind <= ValueKind::u64; }
bool is_real(ValueKind kind) { return kind == ValueKind::f32 || kind == ValueKind::f64; }
// What Avro has as an int: others are longs.
bool is_int(ValueKind kind) {
  return is_integer(kind) && kind != ValueKind::i64 && kind != ValueKind::u64 &&
         kind != ValueKind::u32;
}

// A record of a key and a value, as which entries of maps are read.
bool is_entry(const ValueShape& shape) {
  return shape.kind == ValueKind::record && shape.record->fields.size() == 2 &&
         is_text(shape.record->fields[0].value.kind);
}

class AvroResolution {
 public:
  AvroResolution(AvroPlan& plan, const AvroRules& rules) : plan_(plan), rules_(rules) {}

  Status resolve(const RecordShape& shape) {
    const AvroType& root = plan_.schema.root();
    if (root.kind != AvroKind::record) {
      return wrong("", "the schema is " + describe(root) + " and not a record");
    }
    Steps steps;
    HUMMER_TRY(add_record(root, shape, 0, "", steps));
    plan_.record = put(std::move(steps));
    return {};
  }

 private:
  using Steps = std::vector<AvroInstruction>;
  static constexpr std::size_t most_steps = 1 << 16;

  static Status wrong(const std::string& path, const std::string& what) {
    return {ErrorCode::corrupt_record, path.empty() ? what : "'" + path + "': " + what};
  }
  static Status unlike(const std::string& path, const AvroType& type, const ValueShape& shape) {
    return wrong(path, "the schema has " + describe(type) + ", and the field is " +
                           std::string(formats::describe(shape.kind)));
  }

  // Steps of an element, a branch or the record, with an end.
  std::uint32_t put(Steps steps) {
    const auto first = static_cast<std::uint32_t>(plan_.steps.size());
    plan_.steps.insert(plan_.steps.end(), steps.begin(), steps.end());
    plan_.steps.push_back({.step = AvroStep::end});
    return first;
  }

  // The number of the field that the writer's is for; fields.size(): of none.
  std::size_t find(const RecordShape& shape, const std::string& path, const AvroType& type,
                   std::size_t written) const {
    const std::string& name = type.names[written];
    const std::size_t found = shape.find(name);
    if (found != shape.fields.size()) return found;
    for (const auto& [field, alias] : rules_.aliases) {
      const std::string prefix = path.empty() ? "" : path + ".";
      if (alias != name || !field.starts_with(prefix)) continue;
      const std::size_t meant = shape.find(field.substr(prefix.size()));
      // Its own name comes first.
      if (meant == shape.fields.size()) continue;
      const auto& names = type.names;
      if (std::find(names.begin(), names.end(), shape.fields[meant].name) == names.end()) {
        return meant;
      }
    }
    return shape.fields.size();
  }

  Status add_record(const AvroType& type, const RecordShape& shape, std::size_t offset,
                    const std::string& path, Steps& steps) {
    std::vector<bool> seen(shape.fields.size());
    for (std::size_t i = 0; i < type.parts.size(); ++i) {
      const std::size_t to = find(shape, path, type, i);
      if (to == shape.fields.size()) {
        steps.push_back({.step = AvroStep::skip, .type = type.parts[i]});
        continue;
      }
      const FieldShape& field = shape.fields[to];
      const std::string own = (path.empty() ? "" : path + ".") + std::string(field.name);
      if (seen[to]) return wrong(own, "two fields of the schema are for it: one by an alias");
      seen[to] = true;
      HUMMER_TRY(add(*type.parts[i], field, field.value, offset + field.offset, own, steps));
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const FieldShape& field = shape.fields[i];
      if (seen[i] || !rules_.refuse_missing_fields || field.value.may_be_missing()) continue;
      return wrong((path.empty() ? "" : path + ".") + std::string(field.name),
                   "the schema has no such field: make it a std::optional, or set "
                   "refuse_missing_fields to false");
    }
    return {};
  }

  // A value of `type` into the one of `shape` at `offset`.
  Status add(const AvroType& type, const FieldShape& field, const ValueShape& shape,
             std::size_t offset, const std::string& path, Steps& steps) {
    // Branches of branches may be many.
    if (plan_.steps.size() > most_steps) {
      return {ErrorCode::limit_exceeded, "the schema has more than " + std::to_string(most_steps) +
                                             " ways to read the record"};
    }
    AvroInstruction step{.kind = shape.kind,
                         .offset = static_cast<std::uint32_t>(offset),
                         .shape = &shape,
                         .type = &type,
                         .field = &field};
    if (type.kind == AvroKind::choice) return add_choice(step, path, steps);
    if (shape.kind == ValueKind::optional) {
      step.step = AvroStep::empty;
      if (type.kind != AvroKind::null) {
        step.step = AvroStep::optional;
        HUMMER_TRY(add_element(type, field, *shape.element, path, step.first));
      }
      steps.push_back(step);
      return {};
    }
    switch (type.kind) {
      case AvroKind::record:
        if (shape.kind != ValueKind::record) return unlike(path, type, shape);
        return add_record(type, *shape.record, offset, path, steps);
      case AvroKind::list:
        if (shape.kind != ValueKind::list) return unlike(path, type, shape);
        step.step = AvroStep::list;
        HUMMER_TRY(add_element(*type.element, field, *shape.element, path, step.first));
        break;
      case AvroKind::map: {
        if (shape.kind != ValueKind::list || !is_entry(*shape.element)) {
          return wrong(path,
                       "the schema has a map: make the field a std::vector of a struct of two "
                       "fields, the key, which is text, and the value");
        }
        step.step = AvroStep::map;
        const auto& parts = shape.element->record->fields;
        static const AvroType key{.kind = AvroKind::string, .least_bytes = 1};
        Steps entry;
        HUMMER_TRY(add(key, parts[0], parts[0].value, parts[0].offset, path, entry));
        HUMMER_TRY(add(*type.element, parts[1], parts[1].value, parts[1].offset, path, entry));
        step.first = put(std::move(entry));
        break;
      }
      default:
        if (!set_scalar(type, shape, step)) return unlike(path, type, shape);
        if (type.kind == AvroKind::enumeration) HUMMER_TRY(add_symbols(type, shape, path, step));
    }
    steps.push_back(step);
    return {};
  }

  Status add_element(const AvroType& type, const FieldShape& field, const ValueShape& shape,
                     const std::string& path, std::uint32_t& first) {
    Steps steps;
    HUMMER_TRY(add(type, field, shape, 0, path, steps));
    first = put(std::move(steps));
    return {};
  }

  // Branches that the field can't hold are refused where they come.
  Status add_choice(AvroInstruction step, const std::string& path, Steps& steps) {
    const AvroType& type = *step.type;
    std::vector<std::uint32_t> branches;
    Status refused;
    std::size_t good = 0;
    for (const AvroType* branch : type.parts) {
      Steps own;
      const Status status = add(*branch, *step.field, *step.shape, step.offset, path, own);
      if (status.ok()) {
        ++good;
      } else {
        refused = status;
        own = {{.step = AvroStep::mismatch, .type = branch, .field = step.field}};
      }
      branches.push_back(put(std::move(own)));
    }
    if (good == 0) return refused;
    step.step = AvroStep::choice;
    step.first = static_cast<std::uint32_t>(plan_.branches.size());
    step.size = static_cast<std::uint32_t>(branches.size());
    const auto null_at = static_cast<std::uint32_t>(
        std::find_if(type.parts.begin(), type.parts.end(),
                     [](const AvroType* part) { return part->kind == AvroKind::null; }) -
        type.parts.begin());
    if (type.parts.size() == 2 && null_at < 2 && good == 2) {
      // Of the other branch: what is inside of its optional.
      const AvroInstruction& other = plan_.steps[branches[1 - null_at]];
      if (other.step == AvroStep::optional) {
        step.step = AvroStep::choice_of_two;
        step.first = other.first;
        step.size = null_at;
        steps.push_back(step);
        return {};
      }
    }
    plan_.branches.insert(plan_.branches.end(), branches.begin(), branches.end());
    steps.push_back(step);
    return {};
  }

  static bool set_scalar(const AvroType& type, const ValueShape& shape, AvroInstruction& step) {
    const ValueKind kind = shape.kind;
    switch (type.kind) {
      case AvroKind::boolean: step.step = AvroStep::boolean; return kind == ValueKind::boolean;
      case AvroKind::int32:
        step.step = kind == ValueKind::i32   ? AvroStep::int32
                    : kind == ValueKind::i64 ? AvroStep::int64
                    : is_real(kind)          ? AvroStep::integer_real
                                             : AvroStep::integer;
        return is_integer(kind) || is_real(kind);
      case AvroKind::int64:
        step.step = kind == ValueKind::i64 ? AvroStep::int64
                    : is_real(kind)        ? AvroStep::integer_real
                                           : AvroStep::integer;
        return (is_integer(kind) && !is_int(kind)) || is_real(kind);
      case AvroKind::float32:
        step.step = kind == ValueKind::f32 ? AvroStep::float32 : AvroStep::float32_wide;
        return is_real(kind);
      case AvroKind::float64: step.step = AvroStep::float64; return kind == ValueKind::f64;
      case AvroKind::bytes:
      case AvroKind::string:
        step.step = AvroStep::text;
        step.utf8 = type.kind == AvroKind::string;
        return is_text(kind);
      case AvroKind::fixed:
        step.step = AvroStep::fixed;
        step.size = static_cast<std::uint32_t>(type.size);
        return is_text(kind);
      case AvroKind::enumeration:
        step.step = is_text(kind) ? AvroStep::symbol_text : AvroStep::symbol_number;
        return is_text(kind) || is_integer(kind);
      default: return false;
    }
  }

  Status add_symbols(const AvroType& type, const ValueShape& shape, const std::string& path,
                     AvroInstruction& step) {
    step.size = static_cast<std::uint32_t>(type.names.size());
    if (is_text(shape.kind)) return {};
    const auto& own = shape.symbols;
    if (own.empty()) {
      return wrong(path, "the schema has " + describe(type) +
                             ", whose symbols are not known: make the field text, or an "
                             "enumeration with hummer::formats::symbols");
    }
    step.first = static_cast<std::uint32_t>(plan_.numbers.size());
    for (const std::string& symbol : type.names) {
      const auto found = std::find(own.begin(), own.end(), symbol);
      plan_.numbers.push_back(found == own.end() ? AvroPlan::unknown_symbol
                                                 : static_cast<std::uint32_t>(found - own.begin()));
    }
    return {};
  }

  AvroPlan& plan_;
  const AvroRules& rules_;
};

}  // namespace

Result<std::unique_ptr<const AvroPlan>> AvroPlan::make(AvroSchema schema, const RecordShape& shape,
                                                       const AvroRules& rules) {
  auto plan = std::make_unique<AvroPlan>();
  plan->schema = std::move(schema);
  if (const Status status = AvroResolution(*plan, rules).resolve(shape); !status.ok()) {
    return Status(status.code(),
                  "for a record of " + std::string(shape.name) + ": " + status.message());
  }
  return std::unique_ptr<const AvroPlan>(std::move(plan));
}

}  // namespace hummer::formats
