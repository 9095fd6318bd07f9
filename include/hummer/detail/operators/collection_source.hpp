// CollectionSource: the values of a collection that the job's author wrote down.
//
//   auto values = make_collection<std::string>({"to", "be"});
//   CollectionSource<std::string_view> source(values);
//
// Subtask s of p hands out a contiguous part, in order. Text is copied once into
// a buffer that all subtasks share, so the author's strings may go.
//
// Snapshot: the index. Ownership: the collection is shared and never changed.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/operators/index_ranges.hpp>
#include <hummer/operator.hpp>

namespace hummer {

template <typename T>
struct Collection {
  std::vector<T> values;
  BufferRef text;  // empty, or what the views in `values` point into
};

// std::string is kept as std::string_view (see Stored).
template <typename Value>
std::shared_ptr<const Collection<Stored<Value>>> make_collection(std::vector<Value> values) {
  using T = Stored<Value>;
  auto collection = std::make_shared<Collection<T>>();
  if constexpr (!holds_views<T>) {
    collection->values = std::move(values);
  } else {
    std::string bytes;
    ByteWriter out(bytes);
    for (const auto& value : values) {
      const T& stored = value;
      Codec<T>::encode(stored, out);
    }
    collection->text = BufferRef::allocate(out.size());
    std::memcpy(collection->text->data(), out.view().data(), out.size());
    ByteReader in(std::string_view(collection->text->data(), out.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      T value{};
      HUMMER_ASSERT(Codec<T>::decode(in, value));
      collection->values.push_back(std::move(value));
    }
  }
  return collection;
}

template <StreamType T>
class CollectionSource final : public SourceOperator {
 public:
  explicit CollectionSource(std::shared_ptr<const Collection<T>> collection)
      : collection_(std::move(collection)) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  Status restore(ByteReader& in) override { return ranges_.restore(in); }
  std::vector<StateDescription> states() override { return {IndexRanges::description()}; }
  Status snapshot(ByteWriter& out) override {
    ranges_.snapshot(out);
    return {};
  }
  Status open() override {
    if (ranges_.restored() || context().restored()) return {};
    const std::uint64_t size = collection_->values.size();
    const auto subtask = static_cast<std::uint64_t>(context().subtask());
    const auto parallelism = static_cast<std::uint64_t>(context().parallelism());
    ranges_.add({size * subtask / parallelism, size * (subtask + 1) / parallelism, 1});
    return {};
  }

  OperatorResult produce(Output& out) override {
    if (ranges_.empty()) return OperatorResult::done;
    if (out.full()) return OperatorResult::more;
    Batch& target = out.batch();
    if (collection_->text) target.keep(collection_->text);
    IndexRange& range = ranges_.current();
    if (range.end > collection_->values.size()) {
      return context().fail({ErrorCode::invalid_argument,
                             "the collection is shorter than when the snapshot was taken"});
    }
    const std::uint64_t count = range.left(out.soft_limit() - target.size());
    Collector<T> collector(target, out.soft_limit());
    const T* from = collection_->values.data() + range.next;
    for (std::uint64_t i = 0; i < count; ++i) collector.emit(from[i]);
    range.advance(count);
    ranges_.drop_empty();
    return ranges_.empty() ? OperatorResult::done : OperatorResult::more;
  }

 private:
  std::shared_ptr<const Collection<T>> collection_;
  IndexRanges ranges_;
};

}  // namespace hummer
