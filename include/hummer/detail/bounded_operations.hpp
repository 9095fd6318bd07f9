// BoundedOperations: sort, sort_partition and group_by of every DataStream, and what group_by
// gives. The manual is hummer/bounded.hpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/checks.hpp>
#include <hummer/detail/collected_type.hpp>
#include <hummer/detail/graph_nodes.hpp>
#include <hummer/detail/operators/bounded_operators.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/hash_partitioner.hpp>
#include <hummer/detail/operators/record_text.hpp>
#include <hummer/detail/owned_text.hpp>
#include <hummer/environment.hpp>

namespace hummer {

enum class SortOrder : std::uint8_t { ascending, descending };

template <typename T>
class DataStream;

namespace detail {

// What has been put out with views into records that go.
class EmittedViews {
 public:
  virtual ~EmittedViews() = default;
  virtual void make_last() = 0;
};

}  // namespace detail

// The records of one key, in the order in which they came.
template <typename T>
class Group {
 public:
  // `emitted`: what may have views into the record in hand; null: nothing.
  explicit Group(GroupRecords& records, detail::EmittedViews* emitted = nullptr)
      : records_(records), emitted_(emitted) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // Null: there are no more.
  const T* next() {
    if (emitted_ != nullptr) emitted_->make_last();
    if (at_ == block_.size()) {
      block_ = records_.next();
      at_ = 0;
      if (block_.empty()) return nullptr;
    }
    record_.emplace();
    detail::decode_record(block_[at_++], *record_);
    return &*record_;
  }

 private:
  GroupRecords& records_;
  detail::EmittedViews* const emitted_;
  std::span<const std::string_view> block_;
  std::size_t at_ = 0;
  std::optional<T> record_;
};

namespace detail {

// A group that begins with a record that was looked at, for its key.
class BegunGroup final : public GroupRecords {
 public:
  BegunGroup(GroupRecords& rest, std::span<const std::string_view> first)
      : rest_(rest), first_(first) {}
  std::span<const std::string_view> next() override {
    if (first_.empty()) return rest_.next();
    return std::exchange(first_, {});
  }

 private:
  GroupRecords& rest_;
  std::span<const std::string_view> first_;
};

template <typename KeyOf, typename T>
using KeyOfRecord = std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>;

// The form of the key bytes of groups: in the order of the keys, where they have one.
template <typename Key>
inline constexpr KeyBytes group_key_bytes = SortableKey<Key> ? KeyBytes::ordered : KeyBytes::equal;

template <typename KeyOf, typename T>
consteval bool check_sort() {
  if constexpr (!std::is_invocable_v<KeyOf&, const T&>) {
    static_assert(never<KeyOf>,
                  "sort: the key must be a member of the record, &Order::price, or a function of a "
                  "const T&");
    return false;
  } else if constexpr (!SortableKey<KeyOfRecord<KeyOf, T>>) {
    static_assert(never<KeyOf>,
                  "sort: this key has no order that is known here: let the key be a number, text, "
                  "or a std::pair, std::tuple, std::array or std::optional of such");
    return false;
  } else {
    return check_copies<KeyOf>();
  }
}

template <typename Function, typename Key, typename T, typename Out>
consteval bool check_reduce_group() {
  if constexpr (std::is_void_v<Out>) {
    static_assert(never<Function>,
                  "reduce_group: its function must take (const Key&, hummer::Group<T>&, "
                  "hummer::Collector<Out>&); of a generic one name Out: reduce_group<Out>(...)");
    return false;
  } else if constexpr (!std::is_invocable_v<Function&, const Key&, Group<T>&, Collector<Out>&>) {
    static_assert(never<Function>,
                  "reduce_group: its function can't be called with (const Key&, "
                  "hummer::Group<T>&, hummer::Collector<Out>&)");
    return false;
  } else {
    return check_record_type<Out>() && check_copies<Function>();
  }
}

// Whether Function takes groups of an Owned<T>, and not of T.
template <typename Function, typename KeyOf, typename T, typename Out>
consteval bool takes_owned_groups() {
  if constexpr (!has_owned_form<T> || std::is_void_v<Out>) {
    return false;
  } else if constexpr (std::is_invocable_v<Function&, const KeyOfRecord<KeyOf, T>&, Group<T>&,
                                           Collector<Out>&>) {
    return false;
  } else if constexpr (std::is_invocable_v<KeyOf&, const Owned<T>&>) {
    return std::is_invocable_v<Function&, const KeyOfRecord<KeyOf, Owned<T>>&, Group<Owned<T>>&,
                               Collector<Out>&>;
  } else {
    return false;
  }
}

// The Out of a function of groups.
template <typename Signature>
struct GroupCall;
template <typename Class, typename Return, typename Key, typename Records, typename Out>
struct GroupCall<Return (Class::*)(Key, Records, Collector<Out>&) const> {
  using Type = Out;
};
template <typename Class, typename Return, typename Key, typename Records, typename Out>
struct GroupCall<Return (Class::*)(Key, Records, Collector<Out>&)> {
  using Type = Out;
};
// Named, or found; void: unknown.
template <typename Named, typename Function>
auto group_output() {
  if constexpr (std::is_void_v<Named> &&
                requires { typename GroupCall<decltype(&Function::operator())>::Type; }) {
    return std::type_identity<typename GroupCall<decltype(&Function::operator())>::Type>{};
  } else {
    return std::type_identity<Named>{};
  }
}

template <typename T, typename KeyOf, typename Out, typename Function>
class GroupFunctionOf final : public GroupFunction {
 public:
  GroupFunctionOf(KeyOf key_of, Function function)
      : key_of_(std::move(key_of)), function_(std::move(function)) {}

  const TypeDescriptor& output_type() const override { return type_of<Out>(); }

  void call(GroupRecords& records, Output& out) override {
    const std::span<const std::string_view> block = records.next();
    if (block.empty()) return;
    first_.assign(block.front());  // the key may point into it
    T record{};
    decode_record(std::string_view(first_), record);
    const KeyOfRecord<KeyOf, T>& key = std::invoke(key_of_, std::as_const(record));
    BegunGroup begun(records, block);
    auto to = out.template collector<Out>();
    Emitted emitted(to, out.batch());
    Group<T> group(begun, holds_views<Out> ? &emitted : nullptr);
    function_(key, group, to);
    emitted.make_last();  // the key and the last record go
  }

 private:
  class Emitted final : public EmittedViews {
   public:
    Emitted(Collector<Out>& to, Batch& batch) : to_(to), batch_(batch), first_(batch.size()) {}
    void make_last() override {
      if constexpr (holds_views<Out>) {
        to_.commit();
        copy_text_of_gone<Out>(batch_, first_);
        first_ = batch_.size();
      }
    }

   private:
    Collector<Out>& to_;
    Batch& batch_;
    std::size_t first_;  // of those that were not looked through
  };

  KeyOf key_of_;
  Function function_;
  std::string first_;
};

}  // namespace detail

template <typename T, typename KeyOf>
class GroupedStream {
 public:
  using Key = detail::KeyOfRecord<KeyOf, T>;

  GroupedStream(DataStream<T> stream, KeyOf key_of)
      : stream_(std::move(stream)), key_of_(std::move(key_of)) {}

  // function(const Key&, Group<T>&, Collector<Out>&), once for each key, in the order of the keys
  // of its subtask where they have one. With a generic lambda name Out: reduce_group<Out>(…).
  template <typename Named = void, typename Function>
  auto reduce_group(Function function) const {
    using Out = typename decltype(detail::group_output<Named, Function>())::type;
    if constexpr (detail::takes_owned_groups<Function, KeyOf, T, Out>()) {
      return stream_.owned().group_by(key_of_).template reduce_group<Out>(std::move(function));
    } else if constexpr (detail::check_reduce_group<Function, Key, T, Out>()) {
      using Coding = RecordCodingOf<T, KeyOf, detail::group_key_bytes<Key>>;
      const auto make = [key_of = key_of_, function](std::size_t memory_bytes) {
        return make_group_operator(
            std::make_unique<Coding>(key_of),
            std::make_unique<detail::GroupFunctionOf<T, KeyOf, Out, Function>>(key_of, function),
            memory_bytes);
      };
      StreamExecutionEnvironment& env = stream_.environment();
      EdgeSpecification edge = stream_.edge();
      edge.routing = EdgeRouting::hash;
      edge.partitioner = hash_partitioner<T>(key_of_);
      const int node = detail::add_operator(
          env, stream_.node(), edge,
          {.name = "reduce_group",
           .factory = make_bounded_factory(make),
           .output = &type_of<Out>(),
           .captured = captured_values(function).and_also(captured_values(key_of_))});
      return DataStream<Out>(env, node);
    } else {
      return detail::RefusedStream();
    }
  }

 private:
  DataStream<T> stream_;
  KeyOf key_of_;
};

template <typename Self, typename T>
class BoundedOperations {
 public:
  // key_of: a member pointer or function(const T&) → the key.
  template <typename KeyOf>
  auto sort_partition(KeyOf key_of, SortOrder order = SortOrder::ascending) const {
    if constexpr (wants_owned<KeyOf, T>) {
      return self().owned().sort_partition(std::move(key_of), order);
    } else if constexpr (detail::check_sort<KeyOf, T>()) {
      return add(self(), "sort_partition",
                 make_bounded_factory([key_of, order](std::size_t memory_bytes) {
                   return make_sort_operator(coding_of<KeyOf, true>(key_of, order), memory_bytes);
                 }),
                 key_of, order);
    } else {
      return self();
    }
  }
  template <typename KeyOf>
  auto sort(KeyOf key_of, SortOrder order = SortOrder::ascending) const {
    if constexpr (wants_owned<KeyOf, T>) {
      return self().owned().sort(std::move(key_of), order);
    } else if constexpr (detail::check_sort<KeyOf, T>()) {
      return add(sort_partition(key_of, order), "merge_sorted", make_operator_factory([=] {
                   return make_merge_operator(coding_of<KeyOf, false>(key_of, order));
                 }),
                 key_of, order, true)
          .parallelism(1)
          .max_parallelism(1);
    } else {
      return self();
    }
  }
  // The key: text, a number, or any record type that owns its text, as of key_by.
  template <typename KeyOf>
  auto group_by(KeyOf key_of) const {
    if constexpr (wants_owned<KeyOf, T>) {
      return self().owned().group_by(std::move(key_of));
    } else if constexpr (detail::check_key_by<KeyOf, T>()) {
      return GroupedStream<T, KeyOf>(self(), std::move(key_of));
    } else {
      return detail::RefusedStream();
    }
  }

 private:
  // A stream of text as one of lines.
  DataStream<T> self() const {
    const Self& stream = static_cast<const Self&>(*this);
    if constexpr (requires { stream.lines(); }) {
      return stream.lines();
    } else {
      return stream;
    }
  }

  template <typename KeyOf, bool timed>
  static std::unique_ptr<RecordCoding> coding_of(const KeyOf& key_of, SortOrder order) {
    if (order == SortOrder::ascending) {
      return std::make_unique<RecordCodingOf<T, KeyOf, KeyBytes::ordered, timed>>(key_of);
    }
    return std::make_unique<RecordCodingOf<T, KeyOf, KeyBytes::reversed, timed>>(key_of);
  }

  template <typename KeyOf>
  static DataStream<T> add(const DataStream<T>& from, std::string_view name,
                           std::shared_ptr<const OperatorFactory> factory, const KeyOf& key_of,
                           SortOrder order, bool merges = false) {
    EdgeSpecification edge = from.edge();
    edge.is_ordered = merges;
    const int node = detail::add_operator(from.environment(), from.node(), edge,
                                          {.name = name,
                                           .factory = std::move(factory),
                                           .output = &type_of<T>(),
                                           .captured = captured_values(key_of).and_also(
                                               encoded_values(static_cast<std::uint8_t>(order)))});
    return DataStream<T>(from.environment(), node);
  }
};

}  // namespace hummer
