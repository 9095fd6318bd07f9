// TlsSession: TLS between buffers; who has it moves the bytes. (OpenSSL's own writing to sockets
// would raise SIGPIPE.)
//
//   Result<std::unique_ptr<TlsSession>> made = TlsSession::make(options, host);
//   (*made)->handshake(done)      // then send take_output(), feed() what comes, until it is done
//   (*made)->write(bytes)         // then send take_output()
//   (*made)->read(bytes, ended)   // what feed() has made readable
//
// Thread: one. Errors: E5005 (tls_failed), with what OpenSSL or the verification says.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "broker_options.hpp"

namespace hummer::kafka {

class TlsSession {
 public:
  static Result<std::unique_ptr<TlsSession>> make(const BrokerOptions& options,
                                                  const std::string& host);
  ~TlsSession();

  Status handshake(bool& done);
  void feed(std::string_view bytes);
  std::string take_output();
  Status write(std::string_view bytes);
  // Behind what `bytes` holds.
  Status read(std::string& bytes, bool& ended);

 private:
  struct Handles;
  explicit TlsSession(std::unique_ptr<Handles> handles);

  const std::unique_ptr<Handles> handles_;
};

}  // namespace hummer::kafka
