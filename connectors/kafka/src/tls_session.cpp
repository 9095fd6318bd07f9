#include "tls_session.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <filesystem>

namespace hummer::kafka {
namespace {

template <auto destroy>
struct FreedBy {
  template <typename T>
  void operator()(T* handle) const {
    destroy(handle);
  }
};
using ContextHandle = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using SessionHandle = std::unique_ptr<SSL, FreedBy<SSL_free>>;
using BytesHandle = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using CertificateHandle = std::unique_ptr<X509, FreedBy<X509_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;

Status tls_failure(const std::string& what) {
  std::string text = what;
  char line[256];
  for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error()) {
    ERR_error_string_n(error, line, sizeof line);
    text += std::string(": ") + line;
  }
  return {ErrorCode::tls_failed, text};
}

BytesHandle bytes_of(const std::string& pem) {
  return BytesHandle(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

int give_password(char* to, int size, int, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  return static_cast<int>(text.copy(to, static_cast<std::size_t>(size)));
}

Status trust(SSL_CTX* context, const BrokerOptions& options) {
  if (!options.ca_pem.empty()) {
    const BytesHandle pem = bytes_of(options.ca_pem);
    int count = 0;
    while (const CertificateHandle one{PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr)}) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one.get());
      ++count;
    }
    ERR_clear_error();  // the end of the text is one
    return count > 0 ? Status() : tls_failure("ssl.ca.pem has no certificate");
  }
  if (options.ca_location.empty()) {
    return SSL_CTX_set_default_verify_paths(context) == 1
               ? Status()
               : tls_failure("the certificates that this machine trusts");
  }
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(options.ca_location, ignored);
  const char* const name = options.ca_location.c_str();
  return SSL_CTX_load_verify_locations(context, is_folder ? nullptr : name,
                                       is_folder ? name : nullptr) == 1
             ? Status()
             : tls_failure("ssl.ca.location '" + options.ca_location + "'");
}

Status identify(SSL_CTX* context, const BrokerOptions& options) {
  SSL_CTX_set_default_passwd_cb(context, give_password);
  SSL_CTX_set_default_passwd_cb_userdata(context, const_cast<std::string*>(&options.key_password));
  if (!options.certificate_location.empty() &&
      SSL_CTX_use_certificate_chain_file(context, options.certificate_location.c_str()) != 1) {
    return tls_failure("ssl.certificate.location '" + options.certificate_location + "'");
  }
  if (!options.certificate_pem.empty()) {
    const BytesHandle pem = bytes_of(options.certificate_pem);
    const CertificateHandle own{PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr)};
    if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) {
      return tls_failure("ssl.certificate.pem");
    }
    while (const CertificateHandle one{PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr)}) {
      SSL_CTX_add1_chain_cert(context, one.get());
    }
    ERR_clear_error();
  }
  if (!options.key_location.empty() &&
      SSL_CTX_use_PrivateKey_file(context, options.key_location.c_str(), SSL_FILETYPE_PEM) != 1) {
    return tls_failure("ssl.key.location '" + options.key_location + "'");
  }
  if (!options.key_pem.empty()) {
    const BytesHandle pem = bytes_of(options.key_pem);
    const KeyHandle key(PEM_read_bio_PrivateKey(pem.get(), nullptr, give_password,
                                                const_cast<std::string*>(&options.key_password)));
    if (!key || SSL_CTX_use_PrivateKey(context, key.get()) != 1) return tls_failure("ssl.key.pem");
  }
  return {};
}

Status restrict_choice(SSL_CTX* context, const BrokerOptions& options) {
  if (!options.ciphers.empty() && SSL_CTX_set_cipher_list(context, options.ciphers.c_str()) != 1) {
    return tls_failure("ssl.cipher.suites");
  }
  if (!options.curves.empty() && SSL_CTX_set1_curves_list(context, options.curves.c_str()) != 1) {
    return tls_failure("ssl.curves.list");
  }
  if (!options.signatures.empty() &&
      SSL_CTX_set1_sigalgs_list(context, options.signatures.c_str()) != 1) {
    return tls_failure("ssl.sigalgs.list");
  }
  return {};
}

// An address is looked for among the addresses of the certificate.
void expect_name(SSL* session, const std::string& host) {
  X509_VERIFY_PARAM* const expected = SSL_get0_param(session);
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1) return;
  ERR_clear_error();
  X509_VERIFY_PARAM_set1_host(expected, host.c_str(), 0);
}

}  // namespace

struct TlsSession::Handles {
  ContextHandle context;
  SessionHandle session;
  BIO* input = nullptr;  // the session's
  BIO* output = nullptr;
};

TlsSession::TlsSession(std::unique_ptr<Handles> handles) : handles_(std::move(handles)) {}

TlsSession::~TlsSession() = default;

Result<std::unique_ptr<TlsSession>> TlsSession::make(const BrokerOptions& options,
                                                     const std::string& host) {
  ERR_clear_error();
  auto handles = std::make_unique<Handles>();
  handles->context.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const context = handles->context.get();
  if (context == nullptr) return tls_failure("OpenSSL");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  if (options.verifies_certificate) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    if (Status status = trust(context, options); !status.ok()) return status;
  }
  if (Status status = identify(context, options); !status.ok()) return status;
  if (Status status = restrict_choice(context, options); !status.ok()) return status;
  handles->session.reset(SSL_new(context));
  SSL* const session = handles->session.get();
  handles->input = BIO_new(BIO_s_mem());
  handles->output = BIO_new(BIO_s_mem());
  SSL_set_bio(session, handles->input, handles->output);
  SSL_set_connect_state(session);
  SSL_set_tlsext_host_name(session, host.c_str());
  if (options.verifies_certificate && options.verifies_name) expect_name(session, host);
  return std::unique_ptr<TlsSession>(new TlsSession(std::move(handles)));
}

Status TlsSession::handshake(bool& done) {
  ERR_clear_error();
  SSL* const session = handles_->session.get();
  const int answer = SSL_do_handshake(session);
  done = answer == 1;
  if (done || SSL_get_error(session, answer) == SSL_ERROR_WANT_READ) return {};
  const long verified = SSL_get_verify_result(session);
  return tls_failure(verified == X509_V_OK ? "the TLS handshake"
                                           : std::string("certificate verify failed: ") +
                                                 X509_verify_cert_error_string(verified));
}

void TlsSession::feed(std::string_view bytes) {
  BIO_write(handles_->input, bytes.data(), static_cast<int>(bytes.size()));
}

std::string TlsSession::take_output() {
  std::string bytes(BIO_ctrl_pending(handles_->output), '\0');
  if (!bytes.empty()) BIO_read(handles_->output, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

Status TlsSession::write(std::string_view bytes) {
  ERR_clear_error();
  const int written =
      SSL_write(handles_->session.get(), bytes.data(), static_cast<int>(bytes.size()));
  return written == static_cast<int>(bytes.size()) ? Status() : tls_failure("writing by TLS");
}

Status TlsSession::read(std::string& bytes, bool& ended) {
  char space[16 << 10];
  ERR_clear_error();
  for (;;) {
    const int count = SSL_read(handles_->session.get(), space, sizeof space);
    if (count > 0) {
      bytes.append(space, static_cast<std::size_t>(count));
      continue;
    }
    const int error = SSL_get_error(handles_->session.get(), count);
    ended = error == SSL_ERROR_ZERO_RETURN;
    return ended || error == SSL_ERROR_WANT_READ ? Status() : tls_failure("reading by TLS");
  }
}

}  // namespace hummer::kafka
