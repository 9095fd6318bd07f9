// Certificates for tests, made when they are needed: an authority, and what it signs.
//
// All of Ed25519, whose signatures have one length, so that a simulated run does not depend on the
// keys drawn. Times are seconds since 1970.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <cstdint>
#include <memory>
#include <string>

#include <hummer/status.hpp>

#include "platform/platform.hpp"
#include "platform/tls.hpp"

namespace hummer {

struct TestCertificate {
  std::shared_ptr<X509> certificate;
  std::shared_ptr<EVP_PKEY> key;
};

struct TestCertificateOptions {
  std::string name = "test";
  std::string alternatives = "IP:127.0.0.1,DNS:hummer-test";  // subjectAltName; empty: none
  std::int64_t valid_from = 0;
  std::int64_t valid_until = 4'000'000'000;
  bool is_authority = false;
};

inline std::string pem_text(const auto& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(BIO_new(BIO_s_mem()), &BIO_free_all);
  HUMMER_ASSERT(write(bio.get()) == 1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}
inline std::string certificate_pem(const TestCertificate& made) {
  return pem_text([&](BIO* bio) { return PEM_write_bio_X509(bio, made.certificate.get()); });
}
inline std::string key_pem(const TestCertificate& made) {
  return pem_text([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, made.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

// Signed by `authority`, or by itself.
inline TestCertificate make_test_certificate(const TestCertificateOptions& options,
                                             const TestCertificate* authority = nullptr) {
  TestCertificate made;
  made.key = {EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), &EVP_PKEY_free};
  made.certificate = {X509_new(), &X509_free};
  X509* certificate = made.certificate.get();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 4711);
  ASN1_TIME_set(X509_getm_notBefore(certificate), options.valid_from);
  ASN1_TIME_set(X509_getm_notAfter(certificate), options.valid_until);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(options.name.c_str()), -1, -1,
                             0);
  const TestCertificate& signer = authority != nullptr ? *authority : made;
  X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate.get()));
  X509_set_pubkey(certificate, made.key.get());
  const auto add = [certificate](int kind, const std::string& value) {
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()), &X509_EXTENSION_free);
    HUMMER_ASSERT(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1);
  };
  if (options.is_authority) {
    add(NID_basic_constraints, "critical,CA:TRUE");
  } else if (!options.alternatives.empty()) {
    add(NID_subject_alt_name, options.alternatives);
  }
  HUMMER_ASSERT(X509_sign(certificate, signer.key.get(), nullptr) > 0);
  return made;
}

inline TestCertificate make_test_authority(const std::string& name = "test authority") {
  return make_test_certificate({.name = name, .alternatives = {}, .is_authority = true});
}

inline void write_test_file(Platform& platform, const std::string& path, const std::string& text) {
  auto file = platform.files().open_for_writing(path, WriteMode::truncate);
  HUMMER_ASSERT(file.ok() && (*file)->append(text).ok() && (*file)->close().ok());
}

// PREFIX.certificate, PREFIX.key, PREFIX.ca on the platform's disk. `ca`: whom its owner trusts.
inline TlsOptions write_test_files(Platform& platform, const std::string& prefix,
                                   const TestCertificate& own, const TestCertificate& ca) {
  TlsOptions options;
  options.certificate_file = prefix + ".certificate";
  options.key_file = prefix + ".key";
  options.ca_file = prefix + ".ca";
  write_test_file(platform, options.certificate_file, certificate_pem(own));
  write_test_file(platform, options.key_file, key_pem(own));
  write_test_file(platform, options.ca_file, certificate_pem(ca));
  return options;
}

}  // namespace hummer
