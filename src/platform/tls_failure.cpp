#include "platform/tls_failure.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

namespace hummer {
namespace {

// Empty: not a matter of the peer's certificate.
std::string certificate_problem(long result, const std::string& peer_name) {
  switch (result) {
    case X509_V_OK: return {};
    case X509_V_ERR_CERT_HAS_EXPIRED: return "the peer's certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the peer's certificate is not valid yet; compare the clocks";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "the peer's certificate is not signed by the CA of --tls-ca here";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the peer's certificate is not for '" + peer_name +
             "'; name what it is for with --tls-peer-name";
    default:
      return std::string("the peer's certificate is not valid: ") +
             X509_verify_cert_error_string(result);
  }
}

// What the peer found wrong with this side.
const char* alert_meaning(int reason) {
  switch (reason) {
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "the peer refused this side's certificate: it has expired";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "the peer refused this side's certificate: it is not signed by the peer's CA";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "the peer wants a certificate of this side: give --tls-certificate and --tls-key";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
      return "the peer refused this side's certificate (or is not the one that it should name)";
    default: return nullptr;
  }
}

}  // namespace

std::string openssl_reason() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (error == 0) return "no reason given";
  const char* reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "error " + std::to_string(ERR_GET_REASON(error));
}

Status plain_text_failure(bool is_server) {
  return {ErrorCode::tls_failed,
          is_server ? "the peer speaks no TLS: plain text came; give it --tls-ca"
                    : "the peer speaks no TLS; start it with --tls-certificate and --tls-key, or "
                      "leave out --tls-ca here"};
}

Status tls_failure(SSL* ssl, const std::string& peer_name) {
  const int reason = ERR_GET_REASON(ERR_peek_error());
  const std::string words = openssl_reason();
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    const std::string problem = certificate_problem(SSL_get_verify_result(ssl), peer_name);
    if (!problem.empty()) return {ErrorCode::tls_failed, problem};
  }
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    return {ErrorCode::tls_failed,
            "the peer shows no certificate, and --tls-verify-peer asks for one"};
  }
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
    return plain_text_failure(SSL_is_server(ssl) == 1);
  }
  if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    return {ErrorCode::connection_lost, "the peer ended the connection without a TLS goodbye"};
  }
  const char* meaning = alert_meaning(reason);
  if (meaning != nullptr) return {ErrorCode::tls_failed, meaning};
  return {ErrorCode::tls_failed, "TLS with the peer failed: " + words};
}

}  // namespace hummer
