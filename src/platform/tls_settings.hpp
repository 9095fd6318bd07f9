// TlsSettings: what the streams of one TlsContext share, and OpenSSL's objects as owners.
// (Only tls_*.cpp include this.)
#pragma once

#include <openssl/ssl.h>
#include <atomic>
#include <cstdint>
#include <memory>

#include "platform/platform.hpp"

namespace hummer {

template <auto destroy>
struct OpensslDeleter {
  template <typename T>
  void operator()(T* object) const {
    destroy(object);
  }
};
using SslContextPointer = std::unique_ptr<SSL_CTX, OpensslDeleter<&SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, OpensslDeleter<&SSL_free>>;
using BioPointer = std::unique_ptr<BIO, OpensslDeleter<&BIO_free_all>>;
using X509Pointer = std::unique_ptr<X509, OpensslDeleter<&X509_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, OpensslDeleter<&EVP_PKEY_free>>;

// One reading of the files. Immutable but for the counter; shared by its streams.
struct TlsSettings {
  Platform* platform = nullptr;
  bool verify_peer = false;  // of servers; clients always do
  SslContextPointer ssl;
  // Connections whose last words are still on their way (TlsStream::linger).
  mutable std::atomic<int> lingering{0};
};

}  // namespace hummer
