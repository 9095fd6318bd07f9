// KeyedBackend and KeyedState: what the states of a keyed function and the table
// behind them know of each other.
//
// A state (ValueState and so on, keyed_states.hpp) is a member of the user's
// object and holds no values itself: it names a cell that every key's entry has.
// The backend (KeyedStore<K>) finds the entry of the key in hand, at most once
// per record and only when a state is touched. An entry counts what is in it
// (`live`: states with a value, and one where it has timers); with nothing left it goes. Before
// anything of an entry changes the backend is told (changing): it notes the entry for the next
// incremental snapshot, and saves it first where the snapshot under way has yet to write it.
//
// Lifecycle: states are made with the user's object, bound once by the backend
// before restore and open, and not moved from then on. Thread: that of the
// operator. Errors: a state that is touched without a key, or that no operator
// knows, throws std::logic_error (a mistake in the job, which fails with its message).
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <hummer/batch.hpp>
#include <hummer/bytes.hpp>

namespace hummer {

// When a value's time to live begins again.
enum class TtlUpdate : std::uint8_t { on_write, on_read_and_write };

struct StateOptions {
  // Milliseconds of processing time after which a value is gone: it is not seen from then on, and
  // removed in the background. 0: never. Of lists and maps: each element by itself, but those of a
  // list go in the order in which they came.
  // State that was saved under another time to live: without one it stays; where there was none it
  // begins with the restore; else what is written from then on has the new one.
  std::int64_t ttl_ms = 0;
  TtlUpdate ttl_update = TtlUpdate::on_write;
};

// The head of a key's entry; the key and the cells of the states follow. Eight bytes: with a key
// and a value of eight each, and what says whether there is one, an entry is half a cache line.
struct KeyedEntry {
  std::uint32_t slot = 0;      // where it lies
  std::uint16_t changed = 0;   // generation in which it changed last; see KeyedBackend
  std::uint8_t live = 0;       // states with a value, and one more where there are timers
  bool is_new : 1 = false;     // it was made in the generation in which it changed last
  bool touched : 1 = false;    // since the hand of KeyedSpill's clock came by
  bool on_disk : 1 = false;    // there is a version of it on disk, too
  bool unchanged : 1 = false;  // since it came back from there; REQUIRES: on_disk
  bool is_ahead : 1 = false;   // it came back before its key was looked up

  // A state has a value now, or has none any more.
  void count(bool has_value) { live = static_cast<std::uint8_t>(live + (has_value ? 1 : -1)); }
  // Its key was looked up. What came back ahead of that is mostly wanted once: that is no second
  // look.
  void touch() {
    if (touched && !is_ahead) return;  // as most are: a write that the next look-up would wait for
    touched = !is_ahead;
    is_ahead = false;
  }
};

// Which states a piece of a snapshot may hold.
struct RestoreOptions {
  // States of the snapshot that the function no longer declares, and timers that it has no hook for
  // any more, are dropped; else an error.
  bool allow_dropped_state = false;
};

// A key's state is on disk and can't be read: KeyedStore::failure().
struct StateUnavailable {};

enum class TimerKind : std::uint8_t { event, processing };

// Those that a function has a hook for.
struct TimerKinds {
  bool event = false;
  bool processing = false;

  bool any() const { return event || processing; }
  bool has(TimerKind kind) const { return kind == TimerKind::event ? event : processing; }
};

class KeyedBackend {
 public:
  virtual ~KeyedBackend() = default;

  // The entry of the key in hand, or null when it has none.
  KeyedEntry* find() {
    if (current_ == nullptr && !looked_up_) [[unlikely]]
      look_up(false);
    return current_;
  }
  // The same, made if need be.
  KeyedEntry& obtain() {
    if (current_ == nullptr) [[unlikely]]
      look_up(true);
    return *current_;
  }
  // Something of the entry is about to change.
  void changing(KeyedEntry& entry) {
    if (entry.changed != generation_) [[unlikely]]
      first_change(entry);
  }
  // Processing time, milliseconds since 1970.
  Timestamp now_ms() const { return now_ms_; }
  void set_now_ms(Timestamp now) { now_ms_ = now; }
  // From now on timers that are set are forgotten.
  void refuse_timers() { refuses_timers_ = true; }

  // The key in hand, or null: there is none, or it is of another type.
  virtual const void* key_of_type(const TypeDescriptor& type) const = 0;

  // Of the key in hand. Setting one that is there already does nothing.
  virtual void set_timer(TimerKind kind, Timestamp time) = 0;
  virtual void delete_timer(TimerKind kind, Timestamp time) = 0;

 protected:
  virtual void look_up(bool create) = 0;
  // The first in its generation.
  virtual void first_change(KeyedEntry& entry) = 0;

  // How often a snapshot has been begun, modulo 65,536; so what was changed in this one belongs to
  // the next.
  std::uint16_t generation_ = 0;
  KeyedEntry* current_ = nullptr;
  bool looked_up_ = false;  // at the latest when there is a current one
  Timestamp now_ms_ = 0;
  bool refuses_timers_ = false;
};

class KeyedState {
 public:
  KeyedState(std::string_view name, StateOptions options) : name_(name), options_(options) {}
  virtual ~KeyedState() = default;

  const std::string& name() const { return name_; }
  const StateOptions& options() const { return options_; }

  // ---- for the backend ----

  void bind(KeyedBackend& backend, std::size_t offset) {
    backend_ = &backend;
    offset_ = offset;
  }
  // What the snapshot says of it: "value<f64>".
  virtual std::string describe_type() const = 0;
  virtual std::size_t cell_size() const = 0;
  virtual std::size_t cell_alignment() const = 0;
  virtual void construct(KeyedEntry& entry) const = 0;
  virtual void destroy(KeyedEntry& entry) const = 0;
  virtual bool present(const KeyedEntry& entry) const = 0;
  // REQUIRES: present.
  virtual void encode(const KeyedEntry& entry, ByteWriter& out) const = 0;
  // Into an empty cell, which is present then. False: not valid.
  [[nodiscard]] virtual bool decode(ByteReader& in, KeyedEntry& entry) const = 0;
  // Drops what is older than its time to live.
  virtual void expire(KeyedEntry& entry, Timestamp now) const = 0;
  // When the last of it will have outlived its time. REQUIRES: present.
  virtual Timestamp last_expiry(const KeyedEntry& entry) const = 0;
  // About what its values hold beside their cell; whether they can at all.
  virtual std::size_t heap_bytes(const KeyedEntry& entry) const = 0;
  virtual bool uses_heap() const = 0;

 protected:
  KeyedState(const KeyedState&) = default;
  KeyedState& operator=(const KeyedState&) = default;

  static constexpr Timestamp never_expires = end_of_time;

  KeyedBackend& backend() const {
    if (backend_ == nullptr) [[unlikely]]
      unknown();
    return *backend_;
  }
  bool has_ttl() const { return options_.ttl_ms > 0; }
  bool touches_on_read() const {
    return has_ttl() && options_.ttl_update == TtlUpdate::on_read_and_write;
  }
  Timestamp fresh_expiry() const {
    return has_ttl() ? backend_->now_ms() + options_.ttl_ms : never_expires;
  }
  void* cell_of(KeyedEntry& entry) const { return reinterpret_cast<char*>(&entry) + offset_; }
  const void* cell_of(const KeyedEntry& entry) const {
    return reinterpret_cast<const char*>(&entry) + offset_;
  }

 private:
  [[noreturn]] void unknown() const {
    throw std::logic_error(
        "state '" + name_ +
        "' is not known to its operator: only states that are members of an aggregate are found by "
        "themselves; list them: auto states() { return hummer::states(a, b); }");
  }

  std::string name_;
  StateOptions options_;
  KeyedBackend* backend_ = nullptr;
  std::size_t offset_ = 0;
};

}  // namespace hummer
