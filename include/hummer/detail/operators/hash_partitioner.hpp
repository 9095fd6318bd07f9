// HashPartitioner: spreads records over downstream subtasks by key group.
//
// One per upstream subtask of a hash edge; see Partitioner and key_hash.hpp.
// Cost: one XXH3 of the key and one copy (or move) per record.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/view_check.hpp>
#include <hummer/detail/partitioner.hpp>

namespace hummer {

// The subtask of each key group.
[[gnu::cold]] std::vector<std::uint16_t> owners_of_groups(std::uint32_t targets,
                                                          std::uint32_t groups);

template <typename T, typename KeyOf>
class HashPartitioner final : public Partitioner {
 public:
  HashPartitioner(KeyOf key_of, std::uint32_t targets, std::uint32_t groups)
      : key_of_(std::move(key_of)), groups_(groups), owners_(owners_of_groups(targets, groups)) {}

  OperatorResult scatter(Batch& in, std::vector<Batch>& targets,
                         std::uint32_t soft_limit) override {
    if (in.finished()) return OperatorResult::done;
    const auto records = in.values<T>();
    const bool move = in.unique();
    const bool timed = in.has_timestamps();
    RecordInHand in_hand(in);
    const Ends ends(ends_, targets, soft_limit);
    End* const end_of = ends_.data();  // locals: the loop's stores can't change them
    const std::uint16_t* const owners = owners_.data();
    const std::uint32_t groups = groups_;
    for (std::size_t i = in.position(); i < records.size(); ++i) {
      in_hand.set(i);
      const auto& key = std::invoke(key_of_, records[i]);
      check_key<std::invoke_result_t<KeyOf&, const T&>>(key);
      const std::size_t owner = owners[key_group(key_hash(key), groups)];
      End& end = end_of[owner];
      if constexpr (std::is_trivially_copyable_v<T>) {
        *end.next = records[i];
      } else if (move) {
        new (end.next) T(std::move(const_cast<T&>(records[i])));
      } else if constexpr (std::is_copy_constructible_v<T>) {
        new (end.next) T(records[i]);
      }
      if (timed || end.timed) {
        end.timed = true;
        std::vector<Timestamp>& times = targets[owner].timestamps();
        const auto before = static_cast<std::size_t>(end.next - end.begin);
        if (times.size() != before) times.resize(before, no_timestamp);
        times.push_back(timed ? in.timestamps()[i] : no_timestamp);
      }
      if (++end.next >= end.full) {
        in_hand.set(i + 1);
        return i + 1 == records.size() ? OperatorResult::done : OperatorResult::more;
      }
    }
    in_hand.set(records.size());
    return OperatorResult::done;
  }

 private:
  // Where the next record for a target goes; they are in registers or near, which the batches' own
  // sizes are not.
  struct End {
    T* next;
    T* full;
    T* begin;
    bool timed;
  };
  // The batches learn of their sizes when it goes, also where key_of throws.
  class Ends {
   public:
    Ends(std::vector<End>& ends, std::vector<Batch>& targets, std::uint32_t soft_limit)
        : ends_(ends), targets_(targets) {
      ends_.clear();
      for (Batch& target : targets) {
        T* const begin = target.mutable_values<T>();
        ends_.push_back(
            {begin + target.size(), begin + soft_limit, begin, !target.timestamps().empty()});
      }
    }
    ~Ends() {
      for (std::size_t i = 0; i < targets_.size(); ++i) {
        targets_[i].set_size(static_cast<std::size_t>(ends_[i].next - ends_[i].begin));
      }
    }
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;

   private:
    std::vector<End>& ends_;
    std::vector<Batch>& targets_;
  };

  KeyOf key_of_;
  std::uint32_t groups_;
  std::vector<std::uint16_t> owners_;
  std::vector<End> ends_;  // of a call
};

template <typename T, typename KeyOf>
class HashPartitionerFactory final : public PartitionerFactory {
 public:
  explicit HashPartitionerFactory(KeyOf key_of) : key_of_(std::move(key_of)) {}
  [[gnu::cold]] std::unique_ptr<Partitioner> make(std::uint32_t targets,
                                                  std::uint32_t groups) const override {
    return std::make_unique<HashPartitioner<T, KeyOf>>(key_of_, targets, groups);
  }

 private:
  KeyOf key_of_;
};

template <typename T, typename KeyOf>
std::shared_ptr<const PartitionerFactory> hash_partitioner(KeyOf key_of) {
  return share(std::make_unique<const HashPartitionerFactory<T, KeyOf>>(std::move(key_of)));
}

}  // namespace hummer
