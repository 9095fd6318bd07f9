// KeyedOutput<Out>: what a keyed function may do while it has a key in hand:
// everything of ProcessOutput, and the key's timers.
//
//   out.emit(alert);                        with the time of the record or timer in hand
//   out.set_event_timer(out.time() + 1000);
//   out.set_processing_timer(out.processing_time() + 1000);
//   out.key<std::uint32_t>()                the key, of the type that key_by gave; of text as
//                                           std::string, or as a view of what the state holds
//
// A timer belongs to the key in hand and is part of its state; one that is set
// twice for the same time fires once. An event timer of time T fires when the
// watermark has reached T, before the watermark goes on: every record before T has
// come then. A processing timer fires when the clock has (it may be later). The function
// needs the hook that the timer calls, on_timer or on_processing_timer: setting one
// without it throws std::logic_error.
//
// BroadcastOutput<Out>: the same for the broadcast side, which has no key; it is
// what changes BroadcastState.
//
// Thread: that of the operator; valid during one call only.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <hummer/broadcast_state.hpp>
#include <hummer/detail/state/keyed_backend.hpp>
#include <hummer/process_output.hpp>

namespace hummer {

template <typename Out>
class KeyedOutput : public ProcessOutput<Out> {
 public:
  using Record = Out;

  KeyedOutput(Output& output, const SideOutputPorts& sides, Timestamp watermark,
              KeyedBackend& backend)
      : ProcessOutput<Out>(output, sides, watermark), backend_(backend) {}

  // Of text as std::string: valid until the next call.
  template <typename Key>
  const Key& key() const {
    if constexpr (std::is_same_v<Key, std::string>) {
      return key_text_ = std::string(key<std::string_view>());
    } else {
      return stored_key<Key>();
    }
  }

  // Milliseconds since 1970.
  void set_event_timer(Timestamp time) { backend_.set_timer(TimerKind::event, time); }
  void delete_event_timer(Timestamp time) { backend_.delete_timer(TimerKind::event, time); }
  void set_processing_timer(Timestamp time) { backend_.set_timer(TimerKind::processing, time); }
  void delete_processing_timer(Timestamp time) {
    backend_.delete_timer(TimerKind::processing, time);
  }
  // The clock: milliseconds since 1970, read at most once per batch.
  Timestamp processing_time() const { return backend_.now_ms(); }
  // The input has ended: event timers fire for the last time.
  bool ending() const { return this->watermark() == end_of_time; }

 private:
  template <typename Key>
  const Key& stored_key() const {
    const void* const key = backend_.key_of_type(type_of<Key>());
    if (key == nullptr) [[unlikely]]
      throw std::logic_error("key<K>(): no key in hand, or it is not of type " +
                             type_of<Key>().name);
    return *static_cast<const Key*>(key);
  }

  KeyedBackend& backend_;
  mutable std::string key_text_;
};

template <typename Out>
class BroadcastOutput : public ProcessOutput<Out> {
 public:
  using Record = Out;
  using ProcessOutput<Out>::ProcessOutput;

  // To write to.
  template <typename K, typename V>
  BroadcastWriter<K, V> state(BroadcastState<K, V>& state) {
    return BroadcastWriter<K, V>(state);
  }
};

}  // namespace hummer
