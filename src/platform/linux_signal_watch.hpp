// The Linux form of SignalWatch; see signal_watch.hpp.
//
// A handler may do next to nothing, so it notes the signal and posts a semaphore, which is
// async-signal-safe; a thread that waits for the semaphore calls notify_main. (signalfd would
// need the signals blocked in every thread, also in those that a user's program has started
// before.)
#pragma once

#include <memory>

#include "platform/signal_watch.hpp"

namespace hummer {

class Platform;

std::unique_ptr<SignalWatch> make_linux_signal_watch(Platform& platform, Hangup hangup);

}  // namespace hummer
