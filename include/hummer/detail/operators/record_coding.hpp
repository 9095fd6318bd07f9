// RecordCoding: records of a type as bytes, with the bytes of their keys, and back; by the batch,
// so that what sorts and joins bytes (src/operators/) needs no template.
//
//   RecordCodingOf<Order, KeyOf, KeyBytes::ordered> coding(key_of);
//   while (!in.finished()) {
//     coding.encode(in, encoded);                  // about 256 KiB of them
//     for (i …) sorter.add(encoded.key(i), encoded.value(i));
//   }
//   coding.decode(values, out);                    // behind what the batch holds
//
// Key bytes: `ordered` and `reversed` are those of SortKey; `equal` only tells equal keys from
// others (canonical bytes of the codec).
//
// A timestamp goes with its record where it is `timed`: 8 bytes, or none, and a byte that says so.
//
// What the user's function throws goes through, with `in` at its record.
//
// Thread: one. Cost: a virtual call per batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/batch.hpp>
#include <hummer/collector.hpp>
#include <hummer/detail/operators/view_check.hpp>
#include <hummer/detail/sort_key.hpp>

namespace hummer {

// Of one batch, or a part of it.
class EncodedRecords {
 public:
  std::size_t size() const { return ends_.size(); }
  std::string_view key(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1].key;
    return {keys_.data() + begin, ends_[i].key - begin};
  }
  std::string_view value(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1].value;
    return {values_.data() + begin, ends_[i].value - begin};
  }
  void clear() { ends_.clear(); }

 private:
  template <typename T, typename KeyOf, auto form, bool timed>
  friend class RecordCodingOf;
  struct Ends {
    std::size_t key;
    std::size_t value;
  };
  std::string keys_;
  std::string values_;
  std::vector<Ends> ends_;
};

enum class KeyBytes : std::uint8_t { ordered, reversed, equal };

class RecordCoding {
 public:
  // A record of a batch that is nobody else's.
  struct Place {
    void* values;
    const Timestamp* times;  // null: it has none
    std::uint32_t index;
  };

  virtual ~RecordCoding() = default;
  virtual const TypeDescriptor& type() const = 0;
  // Replaces what `out` holds by records of `in` from its position on, and steps over them.
  virtual void encode(Batch& in, EncodedRecords& out) = 0;
  // The keys alone, of all records.
  virtual void encode_keys(const Batch& in, EncodedRecords& out) = 0;
  // Appends the records of which these are the values.
  virtual void decode(std::span<const std::string_view> values, Batch& out) = 0;
  // Appends these records, and leaves them moved out.
  virtual void gather(std::span<const Place> places, Batch& out) = 0;
};

namespace detail {

// Its memory is what its codec writes, and can be copied.
template <typename T>
inline constexpr bool is_copied = is_bitwise<T> && std::is_trivially_copyable_v<T>;

template <typename T>
void encode_record(const T& record, ByteWriter& out) {
  if constexpr (is_copied<T>) {
    out.put(&record, sizeof record);
  } else {
    Codec<T>::encode(record, out);
  }
}

// One record of bytes that encode_record() of this program has written.
template <typename T>
void decode_record(std::string_view bytes, T& record) {
  if constexpr (is_copied<T>) {
    HUMMER_ASSERT(bytes.size() == sizeof record);
    std::memcpy(&record, bytes.data(), sizeof record);
  } else {
    ByteReader in(bytes);
    if (!Codec<T>::decode(in, record)) [[unlikely]] {
      throw std::runtime_error("the codec of " + Codec<T>::name() +
                               " does not read what it has written: its decode must take what its "
                               "encode gives");
    }
  }
}

// Of the record at `index`; none: nothing is written while no other has one.
inline void append_time(Batch& out, std::size_t index, Timestamp time) {
  if (time == no_timestamp && !out.has_timestamps()) return;
  out.timestamps().resize(index, no_timestamp);
  out.timestamps().push_back(time);
}

}  // namespace detail

template <typename T, typename KeyOf, auto form, bool timed = false>
class RecordCodingOf final : public RecordCoding {
 public:
  using Key = std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>;

  explicit RecordCodingOf(KeyOf key_of) : key_of_(std::move(key_of)) {}

  const TypeDescriptor& type() const override { return type_of<T>(); }

  void encode(Batch& in, EncodedRecords& out) override {
    out.ends_.clear();
    const auto records = in.values<T>();
    const bool has_times = timed && in.has_timestamps();
    ByteWriter keys(out.keys_, true);
    ByteWriter values(out.values_);
    for (std::size_t i = in.position(); i < records.size() && values.size() < bytes_at_once; ++i) {
      in.advance_to(i);
      append_key(records[i], keys);
      detail::encode_record(records[i], values);
      if constexpr (timed) append_time_bytes(has_times ? in.timestamps()[i] : no_timestamp, values);
      out.ends_.push_back({keys.size(), values.size()});
      in.advance_to(i + 1);
    }
  }

  void encode_keys(const Batch& in, EncodedRecords& out) override {
    out.ends_.clear();
    ByteWriter keys(out.keys_, true);
    for (const T& record : in.values<T>()) {
      append_key(record, keys);
      out.ends_.push_back({keys.size(), 0});
    }
  }

  void decode(std::span<const std::string_view> values, Batch& out) override {
    const std::size_t before = out.size();
    bool has_times = timed && out.has_timestamps();  // then all records of the batch have one
    {
      Collector<T> to(out, out.capacity());
      for (std::string_view bytes : values) {
        if constexpr (timed) has_times |= take_time(bytes) != no_timestamp;
        if constexpr (detail::is_copied<T>) {
          detail::decode_record(bytes, *to.room().data());
          to.wrote(1);
          continue;
        }
        if constexpr (holds_views<T>) bytes = out.copy_text(bytes);
        T record{};
        detail::decode_record(bytes, record);
        to.emit(std::move(record));
      }
    }
    if (has_times) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::string_view bytes = values[i];
        detail::append_time(out, before + i, take_time(bytes));
      }
    }
  }

  void gather(std::span<const Place> places, Batch& out) override {
    const std::size_t before = out.size();
    {
      Collector<T> to(out, out.capacity());
      for (const Place& place : places) {
        to.emit(std::move(static_cast<T*>(place.values)[place.index]));
      }
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Place& place = places[i];
      detail::append_time(out, before + i,
                          place.times == nullptr ? no_timestamp : place.times[place.index]);
    }
  }

 private:
  static constexpr std::size_t bytes_at_once = std::size_t{256} << 10;

  void append_key(const T& record, ByteWriter& out) {
    decltype(auto) key = std::invoke(key_of_, record);
    check_key<std::invoke_result_t<KeyOf&, const T&>>(key);
    if constexpr (form == KeyBytes::ordered) {
      SortKey<Key>::append(key, out);
    } else if constexpr (form == KeyBytes::reversed) {
      detail::append_reversed<Key>(key, out);
    } else {
      Codec<Stored<Key>>::encode(Stored<Key>(key), out);
    }
  }
  static void append_time_bytes(Timestamp time, ByteWriter& out) {
    if (time != no_timestamp) out.put_value(time);
    out.put_value(static_cast<char>(time != no_timestamp));
  }
  static Timestamp take_time(std::string_view& bytes) {
    const bool has_time = bytes.back() != 0;
    bytes.remove_suffix(1);
    Timestamp time = no_timestamp;
    if (has_time) {
      bytes.remove_suffix(sizeof time);
      std::memcpy(&time, bytes.data() + bytes.size(), sizeof time);
    }
    return time;
  }

  KeyOf key_of_;
};

}  // namespace hummer
