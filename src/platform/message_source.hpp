// MessageSource: what `hummer tail` asks of a system that keeps messages in partitions, such as
// Kafka, under addresses with a scheme ("kafka://host:9092/topic").
//
// The program has no client of any: one comes from a library, libhummer_<scheme>.so, with the
// symbol `hummer_message_source`, a MessageSourcePlugin (plugins.hpp). It is compiled with this
// header and the public ones, and nothing else of the engine.
//
// Errors: invalid_argument for an address or an option that is none; those of the system. Thread:
// one; a call blocks until all has been said, or nobody listens any more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

struct MessageRequest {
  std::string address;                              // with its scheme
  std::map<std::string, std::string> options = {};  // of the system's client, by their names
  std::uint64_t last = 10;                          // messages of each partition
  bool follow = false;                              // then those that come, without end
};

struct MessageListener {
  // One partition after the other, then, of those that come, in any order.
  std::function<void(const std::string& partition, std::string_view message)> message;
  // Asked a few times a second; false: nobody listens any more.
  std::function<bool()> listens;
};

struct MessageSourcePlugin {
  static constexpr const char* symbol = "hummer_message_source";
  static constexpr std::uint32_t newest_version = 1;  // of this header
  std::uint32_t version = newest_version;
  const char* abi = nullptr;  // HUMMER_ABI, of the public headers
  Status (*look)(const MessageRequest& request, const MessageListener& listener) = nullptr;
};

}  // namespace hummer
