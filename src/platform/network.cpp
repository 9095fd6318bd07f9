#include "platform/network.hpp"

#include <algorithm>
#include <charconv>

namespace hummer {

namespace {

Status malformed(std::string_view text, const char* why) {
  return {ErrorCode::invalid_argument,
          "bad address '" + std::string(text) + "': " + why +
              " (write host:port, such as 127.0.0.1:7000 or [::1]:7000)"};
}

bool parse_number(std::string_view text, unsigned maximum, int base, unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() && value <= maximum;
}

bool parse_ipv4(std::string_view text, std::uint8_t* bytes) {
  for (int i = 0; i < 4; ++i) {
    const std::size_t end = i < 3 ? text.find('.') : text.size();
    unsigned value = 0;
    if (end == std::string_view::npos || end > 3) return false;
    if (!parse_number(text.substr(0, end), 255, 10, value)) return false;
    bytes[i] = static_cast<std::uint8_t>(value);
    text.remove_prefix(i < 3 ? end + 1 : end);
  }
  return true;
}

// Groups of up to four hexadecimal digits, "::" once; no embedded IPv4, no zone.
bool parse_ipv6(std::string_view text, std::array<std::uint8_t, 16>& bytes) {
  std::array<std::uint16_t, 8> groups{};
  std::size_t count = 0;
  std::size_t gap = 8;
  if (text.substr(0, 2) == "::") {
    gap = 0;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    unsigned value = 0;
    if (count == 8 || end == 0 || end > 4 || !parse_number(text.substr(0, end), 0xffff, 16, value))
      return false;
    groups[count++] = static_cast<std::uint16_t>(value);
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
    if (text.empty()) return false;
    if (text.front() == ':') {
      if (gap != 8) return false;
      gap = count;
      text.remove_prefix(1);
    }
  }
  if (gap == 8 ? count != 8 : count == 8) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = i < gap ? i : 8 - count + i;
    bytes[2 * place] = static_cast<std::uint8_t>(groups[i] >> 8);
    bytes[2 * place + 1] = static_cast<std::uint8_t>(groups[i]);
  }
  return true;
}

}  // namespace

std::string SocketAddress::to_string() const {
  std::string text;
  if (!is_ipv6) {
    for (int i = 0; i < 4; ++i) {
      text += std::to_string(bytes[i]);
      text += i < 3 ? '.' : ':';
    }
    return text += std::to_string(port);
  }
  // The longest run of zero groups (the first of equals) becomes "::" (RFC 5952).
  std::array<unsigned, 8> groups{};
  for (int i = 0; i < 8; ++i) groups[i] = bytes[2 * i] * 256u + bytes[2 * i + 1];
  int best = -1, best_length = 1;
  for (int i = 0; i < 8; ++i) {
    int length = 0;
    while (i + length < 8 && groups[i + length] == 0) ++length;
    if (length > best_length) best = i, best_length = length;
  }
  char digits[8];
  for (int i = 0; i < 8;) {
    if (i == best) {
      text += "::";
      i += best_length;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    const auto end = std::to_chars(digits, digits + sizeof(digits), groups[i], 16).ptr;
    text.append(digits, end);
    ++i;
  }
  text.insert(text.begin(), '[');
  text += "]:";
  return text += std::to_string(port);
}

Result<SocketAddress> parse_socket_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return malformed(text, "no port");
  std::string_view host = text.substr(0, colon);
  SocketAddress address;
  unsigned port = 0;
  if (!parse_number(text.substr(colon + 1), 65535, 10, port)) {
    return malformed(text, "the port is not a number from 0 to 65535");
  }
  address.port = static_cast<std::uint16_t>(port);
  if (!host.empty() && host.front() == '[') {
    if (host.back() != ']' || host.size() < 3) return malformed(text, "no closing ']'");
    address.is_ipv6 = true;
    if (!parse_ipv6(host.substr(1, host.size() - 2), address.bytes)) {
      return malformed(text, "not an IPv6 address");
    }
    return address;
  }
  if (host.find(':') != std::string_view::npos) {
    return malformed(text, "an IPv6 address needs brackets");
  }
  if (host.empty() || host == "*") return address;
  if (host == "localhost") host = "127.0.0.1";
  if (parse_ipv4(host, address.bytes.data())) return address;
  if (host.find_first_not_of("0123456789.") == std::string_view::npos) {
    return malformed(text, "not an IPv4 address");
  }
  return Status(ErrorCode::name_not_resolved,
                "'" + std::string(host) + "' is no address: names need a look-up");
}

ByteStream::~ByteStream() = default;
Listener::~Listener() = default;
DatagramSocket::~DatagramSocket() = default;

Status ByteStream::closed_failure() const {
  return {ErrorCode::cancelled, "the connection was closed on this side"};
}

void ByteStream::attach(Executor& executor) {
  if (executor_ == &executor) return;
  HUMMER_ASSERT(executor_ == nullptr && executor.is_current());
  executor_ = &executor;
  do_attach(executor);
}

void ByteStream::set_wake_events(Executor& executor, WakeEvent* readable, WakeEvent* writable) {
  readable_ = readable;
  writable_ = writable;
  if (!closed_) attach(executor);
}

void ByteStream::detach() {
  HUMMER_ASSERT(!read_event_.has_waiter() && !write_event_.has_waiter());
  readable_ = &read_event_;
  writable_ = &write_event_;
  if (executor_ != nullptr && !closed_) do_detach();
  executor_ = nullptr;
}

void ByteStream::close() {
  if (closed_) return;
  closed_ = true;
  if (executor_ != nullptr) do_detach();
  do_close();
  readable();
  writable();
}

Task<Result<std::size_t>> ByteStream::read_some(std::span<char> into) {
  Executor& executor = co_await current_executor();
  if (into.empty()) co_return std::size_t{0};
  while (true) {
    if (closed_) co_return closed_failure();
    Result<std::size_t> got = try_read(into);
    if (!got.ok() || *got != would_block) co_return got;
    attach(executor);
    // No second look is needed: readable() is called on this thread only.
    read_event_.prepare_wait();
    co_await read_event_.wait();
  }
}

Result<std::size_t> ByteStream::try_write_pieces(std::span<const std::string_view>) {
  return Status(ErrorCode::internal, "this stream writes one piece at a time");
}

Task<Status> ByteStream::write_all(std::span<const char> bytes) {
  Executor& executor = co_await current_executor();
  while (!bytes.empty()) {
    if (closed_) co_return closed_failure();
    Result<std::size_t> put = try_write(bytes);
    if (!put.ok()) co_return put.status();
    if (*put != would_block) {
      bytes = bytes.subspan(*put);
      continue;
    }
    attach(executor);
    write_event_.prepare_wait();
    co_await write_event_.wait();
  }
  co_return Status();
}

Task<Result<std::unique_ptr<ByteStream>>> Listener::accept() {
  Executor& executor = co_await current_executor();
  while (true) {
    if (closed_) co_return Status(ErrorCode::cancelled, "the listener was closed");
    Result<std::unique_ptr<ByteStream>> stream = try_accept();
    if (!stream.ok() || *stream != nullptr) co_return stream;
    if (executor_ == nullptr) {
      executor_ = &executor;
      do_attach(executor);
    }
    HUMMER_ASSERT(executor_ == &executor);
    accept_event_.prepare_wait();
    co_await accept_event_.wait();
  }
}

Task<Result<DatagramSocket::Received>> DatagramSocket::receive(std::span<char> into,
                                                               Nanoseconds deadline) {
  Executor& executor = co_await current_executor();
  while (true) {
    if (closed_) co_return Status(ErrorCode::cancelled, "the socket was closed");
    Result<Received> got = try_receive(into);
    if (!got.ok() || got->bytes != would_block) co_return got;
    if (executor_ == nullptr) {
      executor_ = &executor;
      do_attach(executor);
    }
    HUMMER_ASSERT(executor_ == &executor);
    event_.prepare_wait();
    const bool notified = co_await event_.wait_until(deadline);
    if (!notified) co_return Status(ErrorCode::timed_out, "no answer");
  }
}

void DatagramSocket::close() {
  if (closed_) return;
  closed_ = true;
  do_close();
  event_.notify();
}

void Listener::close() {
  if (closed_) return;
  closed_ = true;
  do_close();
  accept_event_.notify();
}

}  // namespace hummer
