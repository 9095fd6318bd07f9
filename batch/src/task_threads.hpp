// run_on_threads: calls a function on several threads at once, and waits for all of them.
//
// The caller looks at what goes on meanwhile: `look` is called at the begin, when it is woken
// (Platform::notify_main) and every `interval`. On a simulated platform calls come one after
// another, while it waits.
//
// `work` gets the number of its thread, from 0; it does not throw. Thread: the main thread.
#pragma once

#include <cstddef>
#include <functional>

#include "platform/platform.hpp"

namespace hummer::batch {

void run_on_threads(Platform& platform, std::size_t threads,
                    const std::function<void(std::size_t thread)>& work,
                    const std::function<void()>& look, Nanoseconds interval);

}  // namespace hummer::batch
