// MessageEnd: an end over a connection (FI_EP_MSG).
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <hummer/status.hpp>

#include "rdma/fabric_end.hpp"

namespace hummer {

class MessageEnd final : public FabricEnd {
 public:
  // Waits for the sender who knows `place`.
  static Result<MadeRemoteMemory> listen(FabricInfo information, RegisteredMemory memory,
                                         const FabricEndOptions& options);
  // `information`: of the way to the peer.
  static Result<std::unique_ptr<RemoteMemory>> open(FabricInfo information, RegisteredMemory memory,
                                                    const FabricCookie& cookie,
                                                    const FabricEndOptions& options);

  std::string answer() const override { return {}; }
  Status answered(std::string_view) override { return {}; }

 private:
  MessageEnd(RegisteredMemory memory, WriteOrder order) : FabricEnd(std::move(memory), order) {}

  void advance(bool now) override;
  Status open_events();
  Status begin_listening(fi_info* information);
  // Address and port on which it listens, as on the wire.
  Result<std::string> listening_address() const;

  // False: there was none.
  bool take_event();
  void take_request(FabricInfo request, std::string_view shown);
  void take_connected(std::string_view shown);
  void take_failed_event();
  Status accept(fi_info& request, const FabricOffer& offer);
  void refuse(const fi_info& request);

  // Of the receiver, also when it has its sender: the provider tcp goes on with attempts of others
  // that have begun, and uses it.
  FabricHandle<fid_pep> listener_;
  FabricCookie cookie_ = {};
  PeerMemory sender_;  // who was accepted
  std::uint32_t skipped_ = 0;
};

}  // namespace hummer
