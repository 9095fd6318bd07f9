// LinuxDatagramSocket: UDP behind the contract of network.hpp. (Linux form only.)
#pragma once

#include <memory>
#include <span>

#include "platform/descriptor.hpp"
#include "platform/linux_stream.hpp"
#include "platform/network.hpp"

namespace hummer {

class LinuxDatagramSocket final : public DatagramSocket, private ReadinessWatcher {
 public:
  // `peer`: null for all.
  static Result<std::unique_ptr<DatagramSocket>> open(const SocketAddress& local,
                                                      const SocketAddress* peer);
  explicit LinuxDatagramSocket(Descriptor socket);
  ~LinuxDatagramSocket() override;

  Result<Received> try_receive(std::span<char> into) override;
  Status send(std::span<const char> bytes, const SocketAddress& to) override;
  SocketAddress local_address() const override { return local_; }

 private:
  void do_attach(Executor& executor) override;
  void do_close() override;
  void on_ready(bool can_read, bool can_write) override;

  Descriptor socket_;
  SocketAddress local_;
  LinuxExecutor* executor_ = nullptr;
};

}  // namespace hummer
