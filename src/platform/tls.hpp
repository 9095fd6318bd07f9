// TlsContext: what turns byte streams into TLS 1.3 streams: certificate, key and CA, read from
// files.
//
//   Result<std::shared_ptr<TlsContext>> tls = TlsContext::make(platform, options);
//   stream = (*tls)->accepted(std::move(stream));                      // of a listener
//   stream = (*tls)->connected(std::move(stream), "worker7:7000");     // of a connect
//
// Both answer at once with a stream that shakes hands as it is first read or written
// (tls_stream.hpp). So the deadline of a handshake is that of the handshake too, and nothing above
// knows of it. Either side checks the other's certificate against the CA file and the platform's
// clock; a client also that it is for the host it asked for (or for `peer_name`); a server asks for
// certificates when `verify_peer` says so. TLS runs on the platform's streams, so it runs simulated
// too; the keys are drawn by OpenSSL itself, which changes bytes, never lengths (with certificates
// of Ed25519).
//
// Renewal: reload() reads the files again when one of them has changed. New connections use the
// new ones, connections that stand go on. Files that do not fit together leave the old in use.
//
// Lifecycle: streams keep what they need of it alive. Thread: any; its files are read on the
// caller's. Errors of make and reload: those of files; invalid_configuration names the file and
// what is wrong in it, never its content. A build without TLS (HUMMER_TLS=OFF): make() fails.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "platform/network.hpp"

namespace hummer {

class Platform;

// PEM files.
struct TlsOptions {
  std::string certificate_file;  // with the chain up to the CA; servers need one
  std::string key_file;          // of the certificate, not encrypted
  std::string ca_file;           // whom to trust; clients need it, and servers that verify
  bool verify_peer = false;      // servers: no client without a certificate
  // The name in the certificates of all servers; empty: the host that is connected to.
  std::string peer_name;

  bool enabled() const {
    return !certificate_file.empty() || !key_file.empty() || !ca_file.empty();
  }
};

enum class TlsRole { client, server, both };

class TlsContext {
 public:
  virtual ~TlsContext() = default;
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // invalid_configuration names what a `role` lacks. `platform` outlives it and its streams.
  static Result<std::shared_ptr<TlsContext>> make(Platform& platform, TlsOptions options,
                                                  TlsRole role);

  virtual std::unique_ptr<ByteStream> accepted(std::unique_ptr<ByteStream> stream) = 0;
  // `address` as it was asked for: host:port.
  virtual std::unique_ptr<ByteStream> connected(std::unique_ptr<ByteStream> stream,
                                                std::string_view address) = 0;

  // True: new files are in use. A failure is told once per change.
  virtual Result<bool> reload() = 0;

 protected:
  TlsContext() = default;
};

}  // namespace hummer
