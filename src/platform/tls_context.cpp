#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "platform/tls.hpp"
#include "platform/tls_failure.hpp"
#include "platform/tls_stream.hpp"

namespace hummer {
namespace {

constexpr std::size_t longest_file_bytes = std::size_t{1} << 20;
constexpr long longest_chain_bytes = 64 * 1024;

// Text of a file; wiped when it goes, since it may be a key.
class SecretText {
 public:
  SecretText() = default;
  SecretText(SecretText&& other) noexcept = default;
  SecretText& operator=(SecretText&&) = delete;
  ~SecretText() { OPENSSL_cleanse(text.data(), text.size()); }
  std::string text;
};

Result<SecretText> read_text(Files& files, const std::string& path) {
  const Result<std::unique_ptr<ReadableFile>> file = files.open_for_reading(path);
  if (!file.ok()) return file.status();
  if ((*file)->size_bytes() > longest_file_bytes) {
    return Status(ErrorCode::invalid_configuration, path + ": too long for a PEM file");
  }
  SecretText secret;
  secret.text.resize((*file)->size_bytes());
  const Result<std::size_t> got = (*file)->read_at(0, secret.text);
  if (!got.ok()) return got.status();
  secret.text.resize(*got);
  return secret;
}

Status wrong_file(const std::string& path, const std::string& what) {
  return {ErrorCode::invalid_configuration, path + ": " + what};
}

BioPointer bio_of(const SecretText& secret) {
  return BioPointer(BIO_new_mem_buf(secret.text.data(), static_cast<int>(secret.text.size())));
}

// Nobody is there to type one.
int no_passphrase(char*, int, int, void*) { return -1; }

X509Pointer next_certificate(BIO* bio) {
  return X509Pointer(PEM_read_bio_X509(bio, nullptr, &no_passphrase, nullptr));
}

Status use_certificate(SSL_CTX* context, Files& files, const TlsOptions& options) {
  const Result<SecretText> chain = read_text(files, options.certificate_file);
  if (!chain.ok()) return chain.status();
  const BioPointer chain_bio = bio_of(*chain);
  const X509Pointer own = next_certificate(chain_bio.get());
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) {
    return wrong_file(options.certificate_file, "no certificate in PEM form: " + openssl_reason());
  }
  while (const X509Pointer further = next_certificate(chain_bio.get())) {
    if (SSL_CTX_add1_chain_cert(context, further.get()) != 1) {
      return wrong_file(options.certificate_file, openssl_reason());
    }
  }
  ERR_clear_error();  // the end of the file
  const Result<SecretText> key_text = read_text(files, options.key_file);
  if (!key_text.ok()) return key_text.status();
  const KeyPointer key(
      PEM_read_bio_PrivateKey(bio_of(*key_text).get(), nullptr, &no_passphrase, nullptr));
  if (key == nullptr) {
    return wrong_file(options.key_file,
                      "no private key in PEM form without a passphrase: " + openssl_reason());
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return wrong_file(options.key_file, "not the key of the certificate in " +
                                            options.certificate_file + ": " + openssl_reason());
  }
  return {};
}

Status trust(SSL_CTX* context, Files& files, const std::string& path) {
  const Result<SecretText> text = read_text(files, path);
  if (!text.ok()) return text.status();
  const BioPointer bio = bio_of(*text);
  int found = 0;
  while (const X509Pointer authority = next_certificate(bio.get())) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1) {
      return wrong_file(path, openssl_reason());
    }
    ++found;
  }
  ERR_clear_error();
  if (found > 0) return {};
  return wrong_file(path, "no certificate in PEM form");
}

// Else OpenSSL builds the chain again for every handshake, signatures verified, and strangers
// choose how many of those there are. A file that has more than one certificate says the chain
// itself; one that the CA did not sign is shown as it is: whether to trust it is the peer's
// decision.
void build_chain(SSL_CTX* context) {
  STACK_OF(X509)* given = nullptr;
  SSL_CTX_get0_chain_certs(context, &given);
  if (given != nullptr) return;
  SSL_CTX_build_cert_chain(context, SSL_BUILD_CHAIN_FLAG_NO_ROOT |
                                        SSL_BUILD_CHAIN_FLAG_IGNORE_ERROR |
                                        SSL_BUILD_CHAIN_FLAG_CLEAR_ERROR);
  ERR_clear_error();
}

Result<std::shared_ptr<const TlsSettings>> read_settings(Platform& platform,
                                                         const TlsOptions& options) {
  // Neither OpenSSL's configuration file nor its handlers at exit.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr);
  auto settings = std::make_shared<TlsSettings>();
  settings->platform = &platform;
  settings->verify_peer = options.verify_peer;
  settings->ssl.reset(SSL_CTX_new(TLS_method()));
  SSL_CTX* context = settings->ssl.get();
  HUMMER_ASSERT(context != nullptr);
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  // Fast with the processor's help, and enough for the life of a connection.
  SSL_CTX_set_ciphersuites(context,
                           "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                           "TLS_CHACHA20_POLY1305_SHA256");
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  // Connections live long: tickets and sessions would only cost memory.
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_cert_list(context, longest_chain_bytes);
  if (!options.certificate_file.empty()) {
    HUMMER_TRY(use_certificate(context, platform.files(), options));
  }
  if (!options.ca_file.empty()) HUMMER_TRY(trust(context, platform.files(), options.ca_file));
  if (!options.certificate_file.empty()) build_chain(context);
  return std::shared_ptr<const TlsSettings>(std::move(settings));
}

std::string host_of(std::string_view address) {
  std::string_view host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return std::string(host.empty() || host == "*" ? "localhost" : host);
}

Status lacking(const char* what) { return {ErrorCode::invalid_configuration, what}; }

Status check(const TlsOptions& options, TlsRole role) {
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return lacking("--tls-certificate and --tls-key go together: give both or neither");
  }
  if (role != TlsRole::client && options.certificate_file.empty()) {
    return lacking("who is connected to over TLS needs --tls-certificate and --tls-key");
  }
  if (role != TlsRole::server && options.ca_file.empty()) {
    return lacking("who connects over TLS needs --tls-ca, to know whom to trust");
  }
  if (role != TlsRole::client && options.verify_peer && options.ca_file.empty()) {
    return lacking("--tls-verify-peer needs --tls-ca, whose certificates the peers must have");
  }
  return {};
}

class FileTlsContext final : public TlsContext {
 public:
  FileTlsContext(Platform& platform, TlsOptions options)
      : platform_(platform), options_(std::move(options)) {}

  Status load() {
    stamps_ = stamps();
    Result<std::shared_ptr<const TlsSettings>> read = read_settings(platform_, options_);
    if (!read.ok()) return read.status();
    const std::lock_guard lock(mutex_);
    settings_ = std::move(*read);
    return {};
  }

  std::unique_ptr<ByteStream> accepted(std::unique_ptr<ByteStream> stream) override {
    return std::make_unique<TlsStream>(settings(), std::move(stream));
  }
  std::unique_ptr<ByteStream> connected(std::unique_ptr<ByteStream> stream,
                                        std::string_view address) override {
    std::string name = options_.peer_name.empty() ? host_of(address) : options_.peer_name;
    return std::make_unique<TlsStream>(settings(), std::move(stream), std::move(name));
  }

  Result<bool> reload() override {
    const std::lock_guard lock(reload_mutex_);
    if (stamps() == stamps_) return false;
    if (Status read = load(); !read.ok()) {
      return read.with_context("the TLS files have changed, the former stay in use");
    }
    return true;
  }

 private:
  struct Stamp {
    std::int64_t modified_ms = -1;
    std::uint64_t size_bytes = 0;
    bool operator==(const Stamp&) const = default;
  };
  using Stamps = std::array<Stamp, 3>;

  Stamps stamps() {
    Stamps all;
    const std::array<const std::string*, 3> paths{&options_.certificate_file, &options_.key_file,
                                                  &options_.ca_file};
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (paths[i]->empty()) continue;
      const Result<FileInformation> found = platform_.files().stat(*paths[i]);
      if (found.ok()) all[i] = {found->modified_ms, found->size_bytes};
    }
    return all;
  }

  std::shared_ptr<const TlsSettings> settings() const {
    const std::lock_guard lock(mutex_);
    return settings_;
  }

  Platform& platform_;
  const TlsOptions options_;
  std::mutex reload_mutex_;
  Stamps stamps_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsSettings> settings_;
};

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::make(Platform& platform, TlsOptions options,
                                                     TlsRole role) {
  HUMMER_TRY(check(options, role));
  auto context = std::make_shared<FileTlsContext>(platform, std::move(options));
  if (Status read = context->load(); !read.ok()) return read.with_context("TLS");
  return std::shared_ptr<TlsContext>(std::move(context));
}

}  // namespace hummer
