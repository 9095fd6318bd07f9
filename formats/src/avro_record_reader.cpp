#include "avro_record_reader.hpp"

#include <cstring>
#include <utility>

#include "utf8.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

constexpr const char* ends_inside = "the data ends inside of it";
constexpr const char* no_number = "what stands there is no number, or the data ends inside of it";

template <typename Number>
void store(void* to, Number number) {
  std::memcpy(to, &number, sizeof number);
}

// Whether it fits.
template <typename Number>
bool store_integer(void* to, std::int64_t value) {
  store(to, static_cast<Number>(value));
  return std::in_range<Number>(value);
}

bool store_integer(ValueKind kind, void* to, std::int64_t value) {
  switch (kind) {
    case ValueKind::i8: return store_integer<std::int8_t>(to, value);
    case ValueKind::i16: return store_integer<std::int16_t>(to, value);
    case ValueKind::i32: return store_integer<std::int32_t>(to, value);
    case ValueKind::u8: return store_integer<std::uint8_t>(to, value);
    case ValueKind::u16: return store_integer<std::uint16_t>(to, value);
    case ValueKind::u32: return store_integer<std::uint32_t>(to, value);
    case ValueKind::u64: return store_integer<std::uint64_t>(to, value);
    default: return store_integer<std::int64_t>(to, value);
  }
}

}  // namespace

void AvroRecordReader::bad(const AvroInstruction& step, const std::string& what) {
  // The first one is said.
  if (std::exchange(bad_, true)) return;
  why_ =
      (step.field == nullptr ? std::string() : "'" + std::string(step.field->name) + "': ") + what;
}

const char* AvroRecordReader::broken(const AvroInstruction* step, const char* what) {
  const bool known = step != nullptr && step->field != nullptr;
  why_ = (known ? "'" + std::string(step->field->name) + "': " : std::string()) + what;
  return nullptr;
}

const char* AvroRecordReader::run(const AvroInstruction* step, const char* at, char* base) {
  const char* const end = end_;
  for (;; ++step) {
    char* const to = base + step->offset;
    std::uint64_t value = 0;
    switch (step->step) {
      case AvroStep::end: return at;
      case AvroStep::int64:
        at = read_varint(at, end, value);
        if (at == nullptr) [[unlikely]]
          return broken(step, no_number);
        store(to, unfolded(value));
        break;
      case AvroStep::int32:
        at = read_varint(at, end, value);
        if (at == nullptr) [[unlikely]]
          return broken(step, no_number);
        store(to, static_cast<std::int32_t>(unfolded(value)));
        if (value > UINT32_MAX) [[unlikely]]
          bad(*step, "the number is no int");
        break;
      case AvroStep::text:
        at = read_varint(at, end, value);
        if (at == nullptr) [[unlikely]]
          return broken(step, no_number);
        // An odd one is folded of what is below 0.
        if ((value & 1) != 0 || value >> 1 > static_cast<std::size_t>(end - at)) [[unlikely]] {
          return broken(step, ends_inside);
        }
        put_text(*step, at, value >> 1, to);
        at += value >> 1;
        break;
      case AvroStep::float64:
      case AvroStep::float32:
      case AvroStep::float32_wide: {
        const std::size_t size = step->step == AvroStep::float64 ? 8 : 4;
        if (static_cast<std::size_t>(end - at) < size) [[unlikely]] {
          return broken(step, ends_inside);
        }
        if (step->step == AvroStep::float32_wide) {
          float narrow = 0;
          std::memcpy(&narrow, at, sizeof narrow);
          store(to, static_cast<double>(narrow));
        } else {
          std::memcpy(to, at, size);
        }
        at += size;
        break;
      }
      case AvroStep::boolean:
        if (at == end) return broken(step, ends_inside);
        if (static_cast<unsigned char>(*at) > 1) bad(*step, "the boolean is neither 0 nor 1");
        store(to, *at == 1);
        ++at;
        break;
      case AvroStep::integer:
      case AvroStep::integer_real: at = put_integer(*step, at, to); break;
      case AvroStep::fixed:
        if (static_cast<std::size_t>(end - at) < step->size) return broken(step, ends_inside);
        put_text(*step, at, step->size, to);
        at += step->size;
        break;
      case AvroStep::symbol_text:
      case AvroStep::symbol_number: at = put_symbol(*step, at, to); break;
      case AvroStep::optional:
        at = run(plan_->steps.data() + step->first, at, static_cast<char*>(step->shape->add(to)));
        break;
      case AvroStep::empty: step->shape->clear(to); break;
      case AvroStep::choice_of_two:
        if (at == end) return broken(step, ends_inside);
        value = static_cast<unsigned char>(*at++);
        if (value == step->size * 2) {
          step->shape->clear(to);
        } else if (value == 2 - step->size * 2) {
          at = run(plan_->steps.data() + step->first, at, static_cast<char*>(step->shape->add(to)));
        } else {
          return broken(step, "the union has no such branch");
        }
        break;
      case AvroStep::choice: at = run_choice(*step, at, base); break;
      case AvroStep::list:
      case AvroStep::map: at = run_list(*step, at, to); break;
      case AvroStep::skip: at = skip(*step->type, at, 0); break;
      case AvroStep::mismatch:
        bad(*step, "the value is " + describe(*step->type) + ", which the field can't hold");
        at = skip(*step->type, at, 0);
        break;
    }
    if (at == nullptr) [[unlikely]]
      return nullptr;
  }
}

const char* AvroRecordReader::run_choice(const AvroInstruction& step, const char* at, char* base) {
  std::uint64_t branch = 0;
  at = read_varint(at, end_, branch);
  if (at == nullptr) return broken(&step, no_number);
  if ((branch & 1) != 0 || branch >> 1 >= step.size) {
    return broken(&step, "the union has no such branch");
  }
  return run(plan_->steps.data() + plan_->branches[step.first + (branch >> 1)], at, base);
}

const char* AvroRecordReader::run_list(const AvroInstruction& step, const char* at, char* base) {
  const bool map = step.step == AvroStep::map;
  const std::size_t least = step.type->element->least_bytes + (map ? 1 : 0);
  const AvroInstruction* const element = plan_->steps.data() + step.first;
  step.shape->clear(base);
  std::uint64_t all = 0;
  while (true) {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    at = read_count(at, least, count, bytes);
    if (at == nullptr) return broken(&step, "the list has more elements than there are bytes");
    if (count == 0) return at;
    all += count;
    if (least == 0 && all > most_empty_elements) {
      return broken(&step, "the list has too many elements without bytes");
    }
    for (; count > 0; --count) {
      at = run(element, at, static_cast<char*>(step.shape->add(base)));
      if (at == nullptr) return nullptr;
    }
  }
}

const char* AvroRecordReader::read_count(const char* at, std::size_t least_bytes,
                                         std::uint64_t& count, std::uint64_t& bytes) {
  std::uint64_t value = 0;
  at = read_varint(at, end_, value);
  if (at == nullptr) return nullptr;
  const std::int64_t signed_count = unfolded(value);
  count = static_cast<std::uint64_t>(signed_count);
  bytes = 0;
  // Below 0 the count is the other way round, and the bytes of the elements follow.
  if (signed_count < 0) {
    count = 0 - count;
    at = read_size(at, bytes);
    if (at == nullptr) return nullptr;
  }
  const auto left = static_cast<std::uint64_t>(end_ - at);
  return count > 0 && least_bytes > 0 && count > left / least_bytes ? nullptr : at;
}

const char* AvroRecordReader::read_size(const char* at, std::uint64_t& size) {
  at = read_varint(at, end_, size);
  if (at == nullptr || (size & 1) != 0) return nullptr;
  size >>= 1;
  return size > static_cast<std::size_t>(end_ - at) ? nullptr : at;
}

const char* AvroRecordReader::put_integer(const AvroInstruction& step, const char* at, void* to) {
  std::uint64_t folded_value = 0;
  at = read_varint(at, end_, folded_value);
  if (at == nullptr) return broken(&step, no_number);
  const std::int64_t value = unfolded(folded_value);
  if (step.kind == ValueKind::f64) {
    store(to, static_cast<double>(value));
  } else if (step.kind == ValueKind::f32) {
    store(to, static_cast<float>(value));
  } else if (!store_integer(step.kind, to, value)) {
    bad(step, "the number " + std::to_string(value) + " does not fit");
  }
  return at;
}

const char* AvroRecordReader::put_symbol(const AvroInstruction& step, const char* at, void* to) {
  std::uint64_t number = 0;
  at = read_varint(at, end_, number);
  if (at == nullptr) return broken(&step, no_number);
  const std::uint64_t symbol = number >> 1;
  if ((number & 1) != 0 || symbol >= step.size) return broken(&step, "the enum has no such symbol");
  const std::string& name = step.type->names[symbol];
  if (step.step == AvroStep::symbol_text) {
    if (step.kind == ValueKind::string) {
      static_cast<std::string*>(to)->assign(name);
    } else {
      *static_cast<std::string_view*>(to) = batch_->copy_text(name);
    }
    return at;
  }
  const std::uint32_t own = plan_->numbers[step.first + symbol];
  if (own == AvroPlan::unknown_symbol || !store_integer(step.kind, to, own)) {
    bad(step, "the symbol '" + name + "' is none of the field's");
  }
  return at;
}

void AvroRecordReader::put_text(const AvroInstruction& step, const char* at, std::size_t size,
                                void* to) {
  const std::string_view text(at, size);
  if (step.utf8 && !is_utf8(text)) [[unlikely]] {
    bad(step, "the string is no UTF-8");
  }
  if (step.kind == ValueKind::view) {
    *static_cast<std::string_view*>(to) = text;
  } else {
    static_cast<std::string*>(to)->assign(text);
  }
}

const char* AvroRecordReader::skip(const AvroType& type, const char* at, int depth) {
  // Records of nothing but nulls may have a great many.
  if (type.least_bytes == 0) return at;
  if (depth > deepest_skipped) return broken(nullptr, "values are nested too deeply");
  std::uint64_t value = 0;
  std::size_t size = 0;
  switch (type.kind) {
    case AvroKind::null: return at;
    case AvroKind::int32:
    case AvroKind::int64:
      at = read_varint(at, end_, value);
      return at == nullptr ? broken(nullptr, no_number) : at;
    case AvroKind::enumeration:
      at = read_varint(at, end_, value);
      if (at == nullptr || (value & 1) != 0 || value >> 1 >= type.names.size()) {
        return broken(nullptr, "an enum has no such symbol");
      }
      return at;
    case AvroKind::bytes:
    case AvroKind::string:
      at = read_size(at, value);
      return at == nullptr ? broken(nullptr, ends_inside) : at + value;
    case AvroKind::record:
      for (const AvroType* part : type.parts) {
        at = skip(*part, at, depth + 1);
        if (at == nullptr) return nullptr;
      }
      return at;
    case AvroKind::choice:
      at = read_varint(at, end_, value);
      if (at == nullptr || (value & 1) != 0 || value >> 1 >= type.parts.size()) {
        return broken(nullptr, "a union has no such branch");
      }
      return skip(*type.parts[value >> 1], at, depth + 1);
    case AvroKind::list:
    case AvroKind::map: return skip_items(type, at, depth + 1);
    case AvroKind::boolean: size = 1; break;
    case AvroKind::float32: size = 4; break;
    case AvroKind::float64: size = 8; break;
    case AvroKind::fixed: size = type.size; break;
  }
  return static_cast<std::size_t>(end_ - at) < size ? broken(nullptr, ends_inside) : at + size;
}

const char* AvroRecordReader::skip_items(const AvroType& type, const char* at, int depth) {
  const bool map = type.kind == AvroKind::map;
  const std::size_t least = type.element->least_bytes + (map ? 1 : 0);
  while (true) {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    at = read_count(at, least, count, bytes);
    if (at == nullptr) return broken(nullptr, "a list has more elements than there are bytes");
    if (count == 0) return at;
    if (bytes > 0) {
      at += bytes;
      continue;
    }
    // Those without bytes are passed over as they are.
    for (; count > 0 && least > 0; --count) {
      std::uint64_t key = 0;
      if (map) {
        at = read_size(at, key);
        if (at == nullptr) return broken(nullptr, ends_inside);
        at += key;
      }
      at = skip(*type.element, at, depth);
      if (at == nullptr) return nullptr;
    }
  }
}

}  // namespace hummer::formats
