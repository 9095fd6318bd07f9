// How an S3-compatible object store is reached.
//
//   hummer::s3::Settings settings{.endpoint = "http://localhost:8333", .region = "us-east-1"};
//
// What is left empty comes from the process's environment, by the names that the tools of AWS use,
// then from the files of the profile:
//
//   endpoint           AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, endpoint_url of the profile in
//                      ~/.aws/config; else https://s3.<region>.amazonaws.com
//   region             AWS_REGION, AWS_DEFAULT_REGION, region of the profile; else us-east-1
//   access_key_id …    AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//   profile            AWS_PROFILE; else "default"
//   credentials_file   AWS_SHARED_CREDENTIALS_FILE; else ~/.aws/credentials
//   ca_file            AWS_CA_BUNDLE; else what the system trusts
//
// Checkpoints on s3:// have these alone, and HUMMER_S3_ADDRESSING (path, virtual_host),
// HUMMER_S3_REQUESTS_PER_SECOND and HUMMER_S3_RETRY_MS.
//
// The credentials file is read again every minute and after an answer that they have expired, so
// one that something else renews will do. Without any credentials requests are not signed.
//
// Errors: invalid_configuration, which names what is wrong. Thread: a value.
#pragma once

#include <cstdint>
#include <string>

#include <hummer/status.hpp>

namespace hummer::s3 {

enum class Addressing : std::uint8_t {
  automatic,     // virtual_host for Amazon's own endpoints, path for others
  path,          // https://endpoint/bucket/key
  virtual_host,  // https://bucket.endpoint/key
};

struct Settings {
  std::string endpoint = {};
  std::string region = {};
  Addressing addressing = Addressing::automatic;
  std::string access_key_id = {};
  std::string secret_access_key = {};
  std::string session_token = {};
  std::string profile = {};
  std::string credentials_file = {};
  std::string ca_file = {};

  // A request is tried again after what may pass by (5xx, 429, no connection, no answer), for so
  // long, with growing pauses that are drawn.
  std::int64_t retry_ms = 60'000;
  std::int64_t connect_timeout_ms = 10'000;
  // Nothing, or next to nothing, came or went for so long: the request has failed.
  std::int64_t stall_timeout_ms = 20'000;
  double requests_per_second = 0;  // 0: no limit; of this process

  // With what the environment and the files of the profile say.
  static Result<Settings> from_environment(Settings settings);
};

}  // namespace hummer::s3
