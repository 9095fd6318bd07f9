// Combiner: what reduces records with equal keys before they are written, so that fewer are.
//
//   class Sum final : public Combiner {
//     Status combine(GroupReader& group, RecordBuffer& out) override {
//       std::uint64_t sum = 0;
//       while (group.next_value()) sum += number_of(group.value());
//       HUMMER_TRY(group.status());
//       out.add(group.key(), bytes_of(sum));
//       return Status();
//     }
//   };
//
// It may be called never, once or several times for a record, also for what it has itself given
// out, and has to give out keys that may stand where the group's key stood: that key, as a rule.
//
// Thread: one at a time. It may throw: the task fails then, and says with which key.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/batch/group_reader.hpp>
#include <hummer/batch/record_stream.hpp>

namespace hummer::batch {

// Records by copy.
class RecordBuffer {
 public:
  void add(std::string_view key, std::string_view value) {
    bytes_.append(key).append(value);
    views_.push_back({nullptr, nullptr, static_cast<std::uint32_t>(key.size()),
                      static_cast<std::uint32_t>(value.size())});
  }
  void clear() {
    bytes_.clear();
    views_.clear();
  }
  std::size_t records() const { return views_.size(); }
  std::size_t size_bytes() const { return bytes_.size(); }
  // Hold until it is changed.
  std::span<const RecordView> views();

 private:
  std::string bytes_;
  std::vector<RecordView> views_;  // without addresses until views() is asked for
};

class Combiner {
 public:
  virtual ~Combiner() = default;
  // A call for each group of equal keys, in their order; the group's first value is next. Its key
  // holds until the call ends.
  virtual Status combine(GroupReader& group, RecordBuffer& out) = 0;
};

}  // namespace hummer::batch
