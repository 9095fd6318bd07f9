// LinuxNetwork: TCP on the reactors of LinuxExecutors. (Linux form only.)
#pragma once

#include <memory>
#include <string_view>

#include "platform/network.hpp"

namespace hummer {

class LinuxNetwork final : public Network {
 public:
  Result<SocketAddress> resolve(std::string_view text) override;
  Result<SocketAddress> interface_address(std::string_view name) override;
  Task<Result<std::unique_ptr<ByteStream>>> connect(SocketAddress address,
                                                    ConnectOptions options) override;
  Result<std::unique_ptr<Listener>> listen(SocketAddress address) override;
};

}  // namespace hummer
