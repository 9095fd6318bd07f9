#include <hummer/network_settings.hpp>

#include <cctype>
#include <string_view>

namespace hummer {

Status validate(const NetworkSettings& settings) {
  const auto refuse = [](std::string message) {
    return Status(ErrorCode::invalid_configuration, "network settings: " + std::move(message));
  };
  const auto outside = [&](std::string_view what, auto value, auto low, auto high,
                           std::string_view unit) {
    return refuse(std::string(what) + " is " + std::to_string(value) + "; write a number from " +
                  std::to_string(low) + " to " + std::to_string(high) + std::string(unit));
  };
  using Limits = NetworkSettings;
  if (settings.sender_slots < 0 || settings.sender_slots > Limits::max_own_slots) {
    return outside("sender_slots", settings.sender_slots, 0, Limits::max_own_slots,
                   " (0: share the task's slot)");
  }
  if (settings.receiver_slots < 0 || settings.receiver_slots > Limits::max_own_slots) {
    return outside("receiver_slots", settings.receiver_slots, 0, Limits::max_own_slots,
                   " (0: share the task's slot)");
  }
  if (settings.buffer_size_bytes < Limits::min_buffer_size_bytes ||
      settings.buffer_size_bytes > Limits::max_buffer_size_bytes) {
    return outside("buffer_size_bytes", settings.buffer_size_bytes, Limits::min_buffer_size_bytes,
                   Limits::max_buffer_size_bytes, " bytes");
  }
  if (settings.credits < 1 || settings.credits > Limits::max_credits) {
    return outside("credits", settings.credits, 1, Limits::max_credits, " buffers");
  }
  for (const char c : settings.interface_or_address) {
    if (!std::isgraph(static_cast<unsigned char>(c))) {
      return refuse(
          "interface_or_address holds a blank or control character; write one interface "
          "name or address, such as \"eth1\" or \"10.0.0.7\"");
    }
  }
  if (settings.exchange == ExchangeMode::blocking &&
      (settings.transport != Transport::automatic || settings.sender_slots != 0 ||
       settings.receiver_slots != 0)) {
    return refuse(
        "a blocking exchange goes through files, so it takes no transport and no slots of its own; "
        "leave transport, sender_slots and receiver_slots as they are");
  }
  const bool binds =
      settings.transport != Transport::memory && settings.transport != Transport::shm;
  if (!binds && !settings.interface_or_address.empty()) {
    return refuse("interface_or_address is \"" + settings.interface_or_address + "\" but the " +
                  std::string(to_string(settings.transport)) +
                  " transport binds nothing; choose tcp or drop the interface");
  }
  return {};
}

std::string to_string(const NetworkSettings& settings) {
  const auto size = [](std::size_t size_bytes) {
    if (size_bytes % (1024 * 1024) == 0) return std::to_string(size_bytes / 1024 / 1024) + " MiB";
    if (size_bytes % 1024 == 0) return std::to_string(size_bytes / 1024) + " KiB";
    return std::to_string(size_bytes) + " B";
  };
  const auto slots = [](std::string_view role, int count) {
    if (count == 0) return std::string(role) + " shares slot";
    return std::to_string(count) + " " + std::string(role) + (count == 1 ? " slot" : " slots");
  };
  if (settings.exchange == ExchangeMode::blocking) {
    const std::string& place = settings.interface_or_address;
    return "blocking, through files" + (place.empty() ? "" : " that are read over " + place);
  }
  std::string text(to_string(settings.transport));
  if (!settings.interface_or_address.empty()) text += " on " + settings.interface_or_address;
  text += ", " + std::to_string(settings.credits) +
          (settings.credits == 1 ? " credit of " : " credits of ") +
          size(settings.buffer_size_bytes);
  text += ", " + slots("sender", settings.sender_slots);
  text += ", " + slots("receiver", settings.receiver_slots);
  return text;
}

}  // namespace hummer
