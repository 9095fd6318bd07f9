// LinuxNetwork: TCP and UDP on the reactors of LinuxExecutors. (Linux form only.)
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "platform/name_client.hpp"
#include "platform/network.hpp"

namespace hummer {

class LinuxNetwork final : public Network {
 public:
  // Of names; both outlive it.
  LinuxNetwork(Files& files, Random& random) : names_(*this, files, random) {}

  Result<SocketAddress> resolve(std::string_view text) override { return names_.find_here(text); }
  Task<Result<SocketAddress>> look_up(std::string text) override {
    return names_.look_up(std::move(text));
  }
  Result<SocketAddress> interface_address(std::string_view name) override;
  Task<Result<std::unique_ptr<ByteStream>>> connect(SocketAddress address,
                                                    ConnectOptions options) override;
  Result<std::unique_ptr<DatagramSocket>> open_datagrams(const SocketAddress& local,
                                                         const SocketAddress* peer) override;
  using Network::listen;
  Result<std::unique_ptr<Listener>> listen(SocketAddress address, ListenOptions options) override;

 private:
  NameClient names_;
};

}  // namespace hummer
