#include "platform/look_up_now.hpp"

#include <string>

#include "platform/run_task.hpp"

namespace hummer {

Result<SocketAddress> look_up_now(Platform& platform, std::string_view text) {
  Result<SocketAddress> here = platform.network().resolve(text);
  if (here.ok() || here.status().code() != ErrorCode::name_not_resolved) return here;
  const std::unique_ptr<Executor> executor = platform.make_executor({.name = "names"});
  auto found = run_task(platform, *executor, platform.network().look_up(std::string(text)));
  executor->stop();
  return found ? std::move(*found) : std::move(here);
}

}  // namespace hummer
