// TlsStream: TLS over another ByteStream; the contract of network.hpp. (Made by TlsContext.)
//
// Handshake: begins with the first try_read or try_write, and goes on with each until it is done;
// until then they answer would_block. A server's first look costs no memory: what a stranger who
// says nothing holds is this object. Its failure is tls_failed, with a text that says which side
// should do what, and so is every later call.
//
// Writing: records of 16 KiB, gathered to about 64 KiB per write below; what the stream below does
// not take is kept (at most that much) and goes as soon as it can, so that "taken" means what it
// means of a socket. close() says so to the peer (close_notify), and a task of its own hands on
// what is left, and the reason of a refused handshake, for a second at most. Reading: 64 KiB per
// read below, decrypted in place, one copy to the caller. An idle stream keeps no buffer.
//
// A connection that ends without close_notify was cut: connection_lost, not the end of the stream.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "platform/network.hpp"
#include "platform/tls_settings.hpp"

namespace hummer {

class TlsStream final : public ByteStream {
 public:
  // As server, or as client that expects a certificate for `peer_name`.
  TlsStream(std::shared_ptr<const TlsSettings> settings, std::unique_ptr<ByteStream> below);
  TlsStream(std::shared_ptr<const TlsSettings> settings, std::unique_ptr<ByteStream> below,
            std::string peer_name);
  ~TlsStream() override;

  Result<std::size_t> try_read(std::span<char> into) override;
  Result<std::size_t> try_write(std::span<const char> bytes) override;
  Status shutdown_write() override;
  SocketAddress local_address() const override;
  SocketAddress peer_address() const override { return peer_; }

  // Of the BIO below OpenSSL; see tls_stream.cpp.
  int read_below(std::span<char> into, std::size_t& got);
  void write_below(std::span<const char> bytes) { outgoing_.append(bytes.data(), bytes.size()); }
  bool ended_below() const { return ended_below_; }

 private:
  void do_attach(Executor& executor) override;
  void do_detach() override;
  void do_close() override;
  void below_is_ready(bool can_read, bool can_write) override;

  // False: not done, more must come or go first.
  Result<bool> ready();
  // Whether a client's first bytes begin a handshake.
  Result<bool> look_at_first_bytes();
  void begin();
  Status fail(Status why);
  // Of the last call to OpenSSL, which answered `result`.
  Status failure_of(int result);
  // False: the stream below takes no more now.
  Result<bool> flush();
  struct LingerPlace;
  static Task<void> linger(std::unique_ptr<LingerPlace> place, std::unique_ptr<ByteStream> below,
                           std::string rest);

  const std::shared_ptr<const TlsSettings> settings_;
  std::unique_ptr<ByteStream> below_;
  const bool is_server_;
  const std::string peer_name_;
  const SocketAddress peer_;
  SslPointer ssl_;
  Status failure_;  // after which nothing goes
  Status failure_below_;
  std::array<char, 5> first_{};  // of a client, before there is an ssl_
  std::size_t first_bytes_ = 0;
  std::size_t first_taken_ = 0;
  std::string outgoing_;  // encrypted
  std::size_t outgoing_sent_ = 0;
  bool open_ = false;         // hands are shaken
  bool ended_ = false;        // the peer said that no more comes
  bool ended_below_ = false;  // without saying so
  bool write_ended_ = false;
  bool flushing_ = false;
};

}  // namespace hummer
