// WindowJoinOperator: what two keyed streams have in the same key and window of event time, over
// tumbling and sliding windows. (Over sessions: session_join.hpp.)
//
// Each record is kept once, as bytes, in the slice of time that it falls into
// (hummer/detail/state/join_slices.hpp), however many windows hold it, and there is no timer per
// key. When the watermark reaches a window's end it goes out as a whole, key by key in order of the
// keys' hashes (hummer/detail/state/join_groups.hpp), to
//
//   pairs      function(const A&, const B&) → Out, for each pair (window join)
//   co-group   function(TimeWindow, std::span<const A>, std::span<const B>,
//              KeyedOutput<Out>&), once; either side may be empty (outer joins)
//
// with records of a side in the order of their times, equal times in order of arrival. Results have
// the time of the window's last millisecond. A co-group's function has a key, and no timers.
//
// A record with all its windows over goes to side output late_first<A> or late_second<B>; one
// without a time fails the job, or is skipped (hummer/failure_policy.hpp). REQUIRES: A and B own
// their text.
//
// Snapshot: version 3, whether it is a delta, the watermark, type of the keys, origins, and in
// steps the slices. Versions up to 2 were a KeyedStore's (a list per key and side, and one timer),
// which is read and taken apart
// (kept_window_join.hpp). Restore takes the pieces of all earlier subtasks
// and keeps the keys that it owns; where the watermark goes on, see
// hummer/detail/state/restored_watermark.hpp.
//
// Cost: a record its copy into a log and 16 bytes; a window a sort of these. Trivially copyable
// records are read where they lie; others are encoded, and decoded when their key goes out.
// Memory: beyond the operator's share state goes to disk, and windows are read from there; only
// what one key has in a window is in memory at once, and fails the job by name (limit_exceeded)
// where it has no room: of pairs one side's records, of a co-group both.
//
// WindowJoinBase: all of it that needs no type of the records and keys.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/operators/kept_window_join.hpp>
#include <hummer/detail/operators/keyed_process.hpp>
#include <hummer/detail/operators/timed_records.hpp>
#include <hummer/detail/state/join_groups.hpp>

namespace hummer {

class WindowJoinBase : public Operator {
 public:
  bool can_skip_record() const override { return true; }
  Status restore(ByteReader& in) override;
  Status open() override;
  Status snapshot(ByteWriter& out) override;
  OperatorResult snapshot_rest(ByteWriter& out) override;
  OperatorResult watermark(Timestamp time, Output& out) override;
  OperatorResult end(Output& out) override { return watermark(end_of_time, out); }

 protected:
  // The slice that the last record was of.
  struct SliceInHand {
    enum class State : std::uint8_t { open, late, between_windows };

    bool holds(Timestamp time) const {
      return static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(start) < length;
    }

    Timestamp start = 0;
    std::uint64_t length = 0;  // 0: none
    State state = State::between_windows;
    RecordLog* log = nullptr;  // where it is open
  };

  WindowJoinBase(const WindowGrid& grid, JoinGroups::Keys keys,
                 std::array<JoinSlices::WriteRecord, 2> write_record)
      : grid_(grid), keys_(keys), slices_(write_record) {}

  // ---- of the types ----

  virtual std::string key_type() const = 0;
  // A key of a snapshot as this program has it; false: not valid.
  virtual bool read_key(std::string_view saved, std::string& key) const = 0;
  // A record of a snapshot as it lies in a log; false: not valid.
  virtual bool read_record(std::size_t side, ByteReader saved, std::string& record) const = 0;
  // Of state from before version 3; made when there is any.
  virtual std::unique_ptr<KeptWindowJoinBase> make_kept() const = 0;
  // Puts out what the groups have; behind a call that answered `more` it goes on.
  virtual OperatorResult emit(const TimeWindow& window, Output& out) = 0;

  SliceInHand slice_of(Timestamp time, std::size_t side);
  // Behind each batch.
  OperatorResult finish_batch() { return answer(keep_within_share()); }
  OperatorResult answer(Status status) {
    return status.ok() ? OperatorResult::done : context().fail(std::move(status));
  }

  Timestamp current_watermark() const { return watermark_; }
  JoinGroups& groups() { return groups_; }

 private:
  static constexpr int several_subtasks = -1;

  bool next_window(Timestamp time);
  void drop_done();
  void open_state();
  Status keep_within_share();
  Status restore_origins(ByteReader& in, Timestamp watermark, bool delta);
  // `piece`: what it is from.
  bool restore_entry(std::size_t side, const RecordEntry& entry, const ByteReader& piece);
  void add_restored(std::size_t side, Timestamp time, std::string_view key, std::string_view record,
                    std::uint32_t origin);
  void drop_done_of_subtask(Timestamp watermark);
  Status take_kept();

  const WindowGrid grid_;
  const JoinGroups::Keys keys_;
  JoinSlices slices_;
  JoinGroups groups_;
  MemoryUse memory_;
  Timestamp watermark_ = no_timestamp;
  Timestamp fired_until_ = no_timestamp;
  std::optional<TimeWindow> window_;  // that goes out

  // Until open().
  int subtasks_restored_ = 0;
  RestoredWatermark restored_watermark_;
  std::map<Timestamp, int> restored_by_;         // slices: the one subtask that had records of it
  std::vector<std::uint32_t> origins_of_piece_;  // by their numbers in it
  std::unique_ptr<KeptWindowJoinBase> kept_;
  std::string key_space_;
  std::string record_space_;
};

// The key that a co-group's function may ask for.
template <typename K>
class KeyInHand final : public KeyedBackend {
 public:
  void set(std::string_view bytes) {
    if constexpr (std::is_integral_v<K>) {
      std::memcpy(&key_, bytes.data(), sizeof key_);
    } else if constexpr (std::is_same_v<K, std::string_view> || std::is_same_v<K, std::string>) {
      key_ = bytes;
    } else {
      ByteReader in(bytes);
      key_ = K{};
      HUMMER_ASSERT(Codec<K>::decode(in, key_));
    }
  }
  const void* key_of_type(const TypeDescriptor& type) const override {
    return type == type_of<K>() ? &key_ : nullptr;
  }
  void set_timer(TimerKind, Timestamp) override { no_timers(); }
  void delete_timer(TimerKind, Timestamp) override { no_timers(); }

 private:
  [[noreturn]] static void no_timers() {
    throw std::logic_error("the function of a window's co_group has no timers and no state");
  }
  void look_up(bool) override { no_timers(); }
  void first_change(KeyedEntry&) override {}

  K key_{};
};

// How records lie in a log, and those of entries, one at a time or all.
template <typename T>
class LoggedRecords {
 public:
  // As they lie in memory, which is copied and read where it lies, and never decoded; others in
  // their encoding. (Entries are aligned to eight bytes.)
  static constexpr bool in_place = std::is_trivially_copyable_v<T> && alignof(T) <= 8;

  // The bytes, which last until `space` or the record changes.
  static std::string_view bytes_of(const T& record, std::string& space) {
    if constexpr (in_place) {
      return {reinterpret_cast<const char*>(&record), sizeof record};
    } else {
      ByteWriter out(space);
      Codec<T>::encode(record, out);
      return out.view();
    }
  }
  static JoinSlices::WriteRecord write_record() {
    if constexpr (!in_place || is_bitwise<T>) return nullptr;
    return [](std::string_view bytes, ByteWriter& out) {
      Codec<T>::encode(*reinterpret_cast<const T*>(bytes.data()), out);
    };
  }
  static bool read_record(ByteReader& saved, std::string& bytes) {
    T record{};
    if (!Codec<T>::decode(saved, record) || saved.left() != 0) return false;
    std::string space;
    bytes = bytes_of(record, space);
    return true;
  }

  // One, valid until the next call.
  const T& record(const RecordEntry& entry) {
    if constexpr (in_place) {
      return *reinterpret_cast<const T*>(entry.record().data());
    } else {
      one_.emplace();
      HUMMER_ASSERT(decode(entry.record(), *one_));
      return *one_;
    }
  }
  // All of them, valid until the next call.
  void take_all(std::span<const RecordEntry* const> entries) {
    records_.clear();
    records_.reserve(entries.size());
    for (const RecordEntry* const entry : entries) {
      if constexpr (in_place) {
        records_.push_back(record(*entry));
      } else {
        HUMMER_ASSERT(decode(entry->record(), records_.emplace_back()));
      }
    }
  }
  std::span<const T> all() const { return records_; }
  std::size_t memory_bytes() const { return detail::heap_bytes_of(records_); }
  void release() {
    constexpr std::size_t few_bytes = 64 << 10;
    if (records_.capacity() * sizeof(T) > few_bytes) {
      std::vector<T>().swap(records_);
    } else {
      records_.clear();
    }
  }

 private:
  static bool decode(std::string_view bytes, T& record) {
    ByteReader in(bytes);
    return Codec<T>::decode(in, record) && in.left() == 0;
  }

  std::optional<T> one_;
  std::vector<T> records_;
};

template <typename K, typename A, typename B, StreamType Out, typename Function, typename KeyOfA,
          typename KeyOfB, bool co_group>
class WindowJoinOperator final : public WindowJoinBase {
  using Base = WindowJoinBase;

 public:
  WindowJoinOperator(const WindowGrid& grid, Function function, KeyedInput<A, KeyOfA> first,
                     KeyedInput<B, KeyOfB> second)
      : Base(grid, co_group ? JoinGroups::Keys::of_either : JoinGroups::Keys::of_both_sides,
             {LoggedRecords<A>::write_record(), LoggedRecords<B>::write_record()}),
        function_(std::move(function)),
        first_(std::move(first.key_of)),
        second_(std::move(second.key_of)) {}

  void declare(Output& out) const override {
    out.add_port(type_of<Out>());
    for (const SideOutputPort& side : sides_) out.add_port(*side.type);
  }
  std::vector<StateDescription> states() override { return KeptWindowJoin<K, A, B>::states(); }

  OperatorResult process(Batch& in, Output& out) override { return process_input(0, in, out); }
  OperatorResult process_input(int input, Batch& in, Output& out) override {
    return input == 0 ? add<0, A>(first_, in, out) : add<1, B>(second_, in, out);
  }

 private:
  // ---- how records come in ----

  template <std::size_t side, typename T, typename KeyOf>
  OperatorResult add(KeyOf& key_of, Batch& in, Output& out) {
    constexpr std::size_t late_port = 1 + side;
    const auto records = in.values<T>();
    SliceInHand slice;
    for (std::size_t i = in.position(); i < records.size(); ++i) {
      in.advance_to(i);
      const Timestamp time = detail::required_time(
          in.has_timestamps() ? in.timestamps()[i] : no_timestamp, "a window join");
      if (!slice.holds(time)) slice = slice_of(time, side);
      if (slice.state == SliceInHand::State::open) {
        const auto& made = std::invoke(key_of, records[i]);
        check_key<decltype(std::invoke(key_of, records[i]))>(made);
        append(*slice.log, time, made, LoggedRecords<T>::bytes_of(records[i], record_space_));
      } else if (slice.state == SliceInHand::State::late) {
        if (out.full(late_port)) return OperatorResult::more;
        context().count_late(1);
        Batch& late = out.batch(late_port);
        const std::size_t used = late.size();
        out.collector<T>(late_port).emit(records[i]);
        stamp(late, used, used + 1, time);
      }
    }
    in.advance_to(records.size());
    return finish_batch();
  }

  void append(RecordLog& log, Timestamp time, const K& key, std::string_view record) {
    const std::string_view bytes = key_bytes(key);
    const RecordEntry head{.time = time,
                           .key_bytes = static_cast<std::uint32_t>(bytes.size()),
                           .record_bytes = static_cast<std::uint32_t>(record.size()),
                           .origin = 0,
                           .unused = 0};
    char* const at = write_entry_head(log.reserve(head.size()), head, bytes);
    std::memcpy(at, record.data(), record.size());
    log.commit(key_hash_of(key, bytes), head.size());
  }
  std::string_view key_bytes(const K& key) {
    if constexpr (std::is_integral_v<K>) {
      return {reinterpret_cast<const char*>(&key), sizeof key};
    } else {
      return KeptWindowJoin<K, A, B>::key_bytes(key, key_space_);
    }
  }
  static std::uint64_t key_hash_of(const K& key, std::string_view bytes) {
    if constexpr (std::is_integral_v<K>) return key_hash(key);
    return hash_bytes(bytes.data(), bytes.size());
  }

  // ---- how windows go out ----

  OperatorResult emit(const TimeWindow& window, Output& out) override {
    const std::size_t used = out.batch().size();
    const Result<bool> all = co_group ? emit_groups(window, out) : emit_pairs(out);
    if (!all.ok()) return context().fail(all.status());
    if constexpr (!co_group) {
      stamp(out.batch(), used, out.batch().size(), time_before(window.end_ms, 1));
    }
    if (const Status views = check_new_views<Out>(context(), Batch(), out.batch(), used);
        !views.ok()) {
      return context().fail(views);
    }
    return *all ? OperatorResult::done : OperatorResult::more;
  }

  // The group in hand, with the next ones made where there is none; false: there are none left.
  Result<bool> has_group() {
    if (group_ < groups().made().size()) return true;
    group_ = 0;
    return groups().next();
  }

  Result<bool> emit_pairs([[maybe_unused]] Output& out) {
    if constexpr (!co_group) {
      auto collector = out.collector<Out>();
      for (;;) {
        const Result<bool> some = has_group();
        if (!some.ok()) return some;
        if (!*some) break;
        const JoinGroup& group = groups().made()[group_];
        const auto firsts = groups().entries(0, group);
        const auto seconds = groups().entries(1, group);
        if constexpr (!LoggedRecords<B>::in_place) {
          if (pair_ == 0 && first_in_hand_ == 0) {
            all_seconds_.take_all(seconds);
            HUMMER_TRY(groups().count(all_seconds_.memory_bytes()));
          }
        }
        for (; first_in_hand_ < firsts.size(); ++first_in_hand_, pair_ = 0) {
          if (collector.full()) return false;
          const A& first = firsts_.record(*firsts[first_in_hand_]);
          for (; pair_ < seconds.size(); ++pair_) {
            if (collector.full()) return false;
            collector.emit_made(
                [&]() -> decltype(auto) { return function_(first, second_of(seconds)); });
          }
        }
        first_in_hand_ = 0;
        ++group_;
      }
      all_seconds_.release();
    }
    return true;
  }

  const B& second_of(std::span<const RecordEntry* const> seconds) {
    if constexpr (LoggedRecords<B>::in_place) {
      return all_seconds_.record(*seconds[pair_]);
    } else {
      return all_seconds_.all()[pair_];
    }
  }

  Result<bool> emit_groups([[maybe_unused]] const TimeWindow& window,
                           [[maybe_unused]] Output& out) {
    if constexpr (co_group) {
      KeyedOutput<Out> emit(out, sides_, this->current_watermark(), key_);
      emit.set_time(time_before(window.end_ms, 1));
      key_.set_now_ms(context().wall_time_ms());
      for (;; ++group_) {
        const Result<bool> some = has_group();
        if (!some.ok()) return some;
        if (!*some) break;
        if (emit.full()) return false;
        const JoinGroup& group = groups().made()[group_];
        const auto firsts = groups().entries(0, group);
        const auto seconds = groups().entries(1, group);
        all_firsts_.take_all(firsts);
        all_seconds_.take_all(seconds);
        HUMMER_TRY(groups().count(all_firsts_.memory_bytes() + all_seconds_.memory_bytes()));
        key_.set((firsts.empty() ? seconds : firsts).front()->key());
        function_(window, all_firsts_.all(), all_seconds_.all(), emit);
      }
      all_firsts_.release();
      all_seconds_.release();
    }
    return true;
  }

  // ---- state ----

  std::string key_type() const override { return KeptWindowJoin<K, A, B>::key_type(); }
  bool read_key(std::string_view saved, std::string& key) const override {
    return KeptWindowJoin<K, A, B>::read_key(saved, key);
  }
  bool read_record(std::size_t side, ByteReader saved, std::string& record) const override {
    return side == 0 ? LoggedRecords<A>::read_record(saved, record)
                     : LoggedRecords<B>::read_record(saved, record);
  }
  std::unique_ptr<KeptWindowJoinBase> make_kept() const override {
    return std::make_unique<KeptWindowJoin<K, A, B>>();
  }

  Function function_;
  KeyOfA first_;
  KeyOfB second_;
  const SideOutputPorts sides_ = side_outputs(late_first<A>, late_second<B>);
  std::string key_space_;
  std::string record_space_;

  // Of the window that goes out.
  std::size_t group_ = 0;
  std::size_t first_in_hand_ = 0;
  std::size_t pair_ = 0;
  LoggedRecords<A> firsts_;
  LoggedRecords<A> all_firsts_;
  LoggedRecords<B> all_seconds_;
  KeyInHand<K> key_;
};

}  // namespace hummer
