// DatagramEnd: an end without a connection (FI_EP_RDM): each says its name to the other, by the
// link over which they met.
//
// Whether the other one is still there is known to that link alone.
//
// Thread: one at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <hummer/status.hpp>

#include "rdma/fabric_end.hpp"

namespace hummer {

class DatagramEnd final : public FabricEnd {
 public:
  // Waits for answered().
  static Result<MadeRemoteMemory> make(FabricInfo information, RegisteredMemory memory,
                                       const FabricEndOptions& options);
  static Result<std::unique_ptr<RemoteMemory>> open(FabricInfo information, RegisteredMemory memory,
                                                    const FabricPlace& peer,
                                                    const FabricEndOptions& options);

  // Its own place.
  std::string answer() const override { return place_; }
  Status answered(std::string_view answer) override;

 private:
  DatagramEnd(RegisteredMemory memory, WriteOrder order) : FabricEnd(std::move(memory), order) {}

  static Result<std::unique_ptr<DatagramEnd>> prepare(FabricInfo information,
                                                      RegisteredMemory memory,
                                                      const FabricEndOptions& options);
  void advance(bool) override {}
  Status open_addresses();
  Status find_name();
  Status begin_with(const FabricPlace& peer);

  std::string provider_;
  std::string name_;
  std::string place_;
  bool name_is_text_ = false;
};

}  // namespace hummer
