#include <hummer/s3/client.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include "answers.hpp"
#include "sender.hpp"

namespace hummer::s3 {
namespace {

constexpr std::size_t max_answer_bytes = 32 << 20;
constexpr std::size_t max_listed_pages = 10'000;
constexpr std::size_t removed_at_once = 1000;
constexpr const char* token_header = "x-amz-meta-hummer-write";

std::string upload_of(const Upload& upload) {
  return "the upload to '" + upload.place.text() + "'";
}

Object object_of(const Place& place, const HttpResponse& response) {
  Object object;
  object.key = place.key;
  const std::string length = response.header("content-length");
  (void)std::from_chars(length.data(), length.data() + length.size(), object.size_bytes);
  object.modified_ms = parse_time_ms(response.header("last-modified"));
  object.etag = response.header("etag");
  return object;
}

void add_condition(Request& request, const Condition& condition) {
  if (condition.only_new) request.headers["if-none-match"] = "*";
  if (!condition.if_match.empty()) request.headers["if-match"] = condition.if_match;
}

Status condition_failed(const Condition& condition, const Place& place) {
  if (condition.only_new) {
    return {ErrorCode::invalid_argument, "'" + place.text() + "' exists already"};
  }
  return {ErrorCode::file_changed, "'" + place.text() + "' is not what it was"};
}

bool succeeded(const Sender::Outcome& outcome) {
  return outcome.response.status >= 200 && outcome.response.status < 300 &&
         outcome.error.code.empty();
}

}  // namespace

class Client::State {
 public:
  explicit State(const Settings& settings) : sender(settings) {}

  Request request(const char* method, const std::string& bucket,
                  const std::string& key = {}) const {
    Request made;
    made.method = method;
    sender.address(made, bucket, key);
    return made;
  }
  // Any answer but success is a failure.
  Result<Sender::Outcome> ask(Request request, const std::string& what) {
    Result<Sender::Outcome> outcome = sender.send(std::move(request), what, max_answer_bytes);
    if (outcome.ok() && !succeeded(*outcome)) return Sender::failure(*outcome, what);
    return outcome;
  }
  // Whether the object is the one that was written with this token.
  Result<bool> is_written_by(const Place& place, const std::string& token, std::string& etag) {
    Result<Sender::Outcome> outcome =
        ask(request("HEAD", place.bucket, place.key), "looking at '" + place.text() + "'");
    if (outcome.status().code() == ErrorCode::not_found) return false;
    if (!outcome.ok()) return outcome.status();
    etag = outcome->response.header("etag");
    return !token.empty() && outcome->response.header(token_header) == token;
  }

  Sender sender;
};

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::make(Settings settings) {
  Result<Settings> complete = Settings::from_environment(std::move(settings));
  if (!complete.ok()) return complete.status();
  return std::unique_ptr<Client>(new Client(std::make_unique<State>(*complete)));
}

const Settings& Client::settings() const { return state_->sender.settings(); }
std::uint64_t Client::requests() const { return state_->sender.requests(); }

Result<Object> Client::head(const Place& place) {
  const auto outcome = state_->ask(state_->request("HEAD", place.bucket, place.key),
                                   "looking at '" + place.text() + "'");
  if (!outcome.ok()) return outcome.status();
  return object_of(place, outcome->response);
}

Result<std::size_t> Client::get(const Place& place, std::uint64_t offset, std::span<char> into,
                                const std::string& if_match) {
  if (into.empty()) return std::size_t{0};
  const std::string what = "reading '" + place.text() + "' at byte " + std::to_string(offset);
  Request request = state_->request("GET", place.bucket, place.key);
  request.headers["range"] =
      "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + into.size() - 1);
  if (!if_match.empty()) request.headers["if-match"] = if_match;
  const auto outcome =
      state_->sender.send(std::move(request), what, std::max(into.size(), max_answer_bytes));
  if (!outcome.ok()) return outcome.status();
  if (outcome->response.status == 416) return std::size_t{0};
  if (outcome->response.status == 412) return condition_failed({.if_match = if_match}, place);
  if (!succeeded(*outcome)) return Sender::failure(*outcome, what);
  std::string_view body = outcome->response.body;
  // A store without ranges answers with the whole.
  if (outcome->response.status == 200)
    body.remove_prefix(std::min<std::uint64_t>(offset, body.size()));
  return body.copy(into.data(), into.size());
}

Result<std::string> Client::put(const Place& place, std::string_view bytes,
                                const Condition& condition) {
  const std::string what = "writing '" + place.text() + "'";
  Request request = state_->request("PUT", place.bucket, place.key);
  request.body = bytes;
  const bool conditional = condition.only_new || !condition.if_match.empty();
  const std::string token = conditional ? state_->sender.draw_token() : std::string();
  if (conditional) request.headers[token_header] = token;
  add_condition(request, condition);
  const auto outcome = state_->sender.send(std::move(request), what, max_answer_bytes);
  if (!outcome.ok()) return outcome.status();
  if (succeeded(*outcome)) return outcome->response.header("etag");
  if (outcome->response.status != 412) return Sender::failure(*outcome, what);
  if (outcome->uncertain) {
    std::string etag;
    const Result<bool> own = state_->is_written_by(place, token, etag);
    if (!own.ok()) return own.status();
    if (*own) return etag;
  }
  return condition_failed(condition, place);
}

Status Client::copy(const Place& from, const Place& to) {
  const std::string what = "copying '" + from.text() + "' to '" + to.text() + "'";
  Request request = state_->request("PUT", to.bucket, to.key);
  request.headers["x-amz-copy-source"] = percent_encoded("/" + from.bucket + "/" + from.key, true);
  const auto outcome = state_->ask(std::move(request), what);
  if (!outcome.ok()) return outcome.status();
  // A failure may come behind a status of success.
  const ErrorAnswer error = read_error(outcome->response.body);
  return error.code.empty()
             ? Status()
             : Status(ErrorCode::io_error, what + ": " + error.code + ", " + error.message);
}

Status Client::remove(const Place& place) {
  const Status status = state_
                            ->ask(state_->request("DELETE", place.bucket, place.key),
                                  "removing '" + place.text() + "'")
                            .status();
  return status.code() == ErrorCode::not_found ? Status() : status;
}

Status Client::remove(const std::string& bucket, std::span<const std::string> keys) {
  for (std::size_t at = 0; at < keys.size(); at += removed_at_once) {
    const auto some = keys.subspan(at, std::min(removed_at_once, keys.size() - at));
    const std::string what = "removing " + std::to_string(some.size()) +
                             " objects of the bucket '" + bucket + "', '" + some.front() +
                             "' among them";
    const std::string body = removal_body({some.begin(), some.end()});
    Request request = state_->request("POST", bucket);
    request.query["delete"] = "";
    request.body = body;
    request.headers["content-md5"] = md5_base64(body);
    const auto outcome = state_->ask(std::move(request), what);
    if (!outcome.ok()) return outcome.status();
    const Result<std::string> left = read_removed(outcome->response.body);
    if (!left.ok()) return left.status().with_context(what);
    if (!left->empty()) return {ErrorCode::io_error, what + ": the store keeps " + *left};
  }
  return {};
}

Result<Listing> Client::list(const std::string& bucket, const std::string& prefix,
                             const std::string& delimiter, const std::string& from, int most) {
  const std::string what = "listing 's3://" + bucket + "/" + prefix + "'";
  Request request = state_->request("GET", bucket);
  request.query = {{"list-type", "2"}, {"prefix", prefix}, {"max-keys", std::to_string(most)}};
  if (!delimiter.empty()) request.query["delimiter"] = delimiter;
  if (!from.empty()) request.query["continuation-token"] = from;
  const auto outcome = state_->ask(std::move(request), what);
  if (!outcome.ok()) return outcome.status();
  Result<Listing> listing = read_listing(outcome->response.body);
  if (!listing.ok()) return listing.status().with_context(what);
  return listing;
}

Result<Upload> Client::begin_upload(const Place& place) {
  Upload upload;
  upload.place = place;
  upload.token = state_->sender.draw_token();
  Request request = state_->request("POST", place.bucket, place.key);
  request.query["uploads"] = "";
  request.headers[token_header] = upload.token;
  const auto outcome = state_->ask(std::move(request), "beginning " + upload_of(upload));
  if (!outcome.ok()) return outcome.status();
  Result<std::string> id = read_begun_upload(outcome->response.body);
  if (!id.ok()) return id.status().with_context("beginning " + upload_of(upload));
  upload.id = std::move(*id);
  return upload;
}

Result<Part> Client::put_part(const Upload& upload, int number, std::string_view bytes) {
  Request request = state_->request("PUT", upload.place.bucket, upload.place.key);
  request.query = {{"partNumber", std::to_string(number)}, {"uploadId", upload.id}};
  request.body = bytes;
  const auto outcome = state_->ask(
      std::move(request), "writing part " + std::to_string(number) + " of " + upload_of(upload));
  if (!outcome.ok()) return outcome.status();
  return Part{number, outcome->response.header("etag"), bytes.size()};
}

Status Client::complete(const Upload& upload, std::span<const Part> parts,
                        const Condition& condition) {
  const std::string what = "completing " + upload_of(upload);
  const std::string body = completion_body({parts.begin(), parts.end()});
  Request request = state_->request("POST", upload.place.bucket, upload.place.key);
  request.query["uploadId"] = upload.id;
  request.body = body;
  add_condition(request, condition);
  const auto outcome = state_->sender.send(std::move(request), what, max_answer_bytes);
  if (!outcome.ok()) return outcome.status();
  if (succeeded(*outcome)) return {};
  const int status = outcome->response.status;
  if (status != 404 && status != 412) return Sender::failure(*outcome, what);
  // Maybe it was completed before.
  std::string etag;
  const Result<bool> own = state_->is_written_by(upload.place, upload.token, etag);
  if (!own.ok()) return own.status();
  if (*own) return {};
  return status == 404 ? Sender::failure(*outcome, what)
                       : condition_failed(condition, upload.place);
}

Status Client::abort(const Upload& upload) {
  Request request = state_->request("DELETE", upload.place.bucket, upload.place.key);
  request.query["uploadId"] = upload.id;
  const Status status = state_->ask(std::move(request), "aborting " + upload_of(upload)).status();
  return status.code() == ErrorCode::not_found ? Status() : status;
}

Result<std::vector<Upload>> Client::uploads(const std::string& bucket, const std::string& prefix) {
  const std::string what = "listing the uploads to 's3://" + bucket + "/" + prefix + "'";
  std::vector<Upload> all;
  Page<Upload> page;
  for (std::size_t pages = 0; pages < max_listed_pages; ++pages) {
    Request request = state_->request("GET", bucket);
    request.query = {{"uploads", ""}, {"prefix", prefix}};
    if (!page.next.empty()) request.query["key-marker"] = page.next;
    if (!page.next_upload.empty()) request.query["upload-id-marker"] = page.next_upload;
    const auto outcome = state_->ask(std::move(request), what);
    if (!outcome.ok()) return outcome.status();
    Result<Page<Upload>> next = read_uploads(outcome->response.body);
    if (!next.ok()) return next.status().with_context(what);
    page = std::move(*next);
    for (Upload& upload : page.entries) {
      upload.place.bucket = bucket;
      all.push_back(std::move(upload));
    }
    if (page.next.empty()) return all;
  }
  return Status(ErrorCode::limit_exceeded, what + ": there are too many");
}

Result<bool> Client::has_become(const Upload& upload) {
  const auto outcome = state_->ask(state_->request("HEAD", upload.place.bucket, upload.place.key),
                                   "looking at '" + upload.place.text() + "'");
  if (!outcome.ok()) return outcome.status();
  return !upload.token.empty() && outcome->response.header(token_header) == upload.token;
}

Result<std::vector<Part>> Client::parts(const Upload& upload) {
  const std::string what = "listing the parts of " + upload_of(upload);
  std::vector<Part> all;
  std::string from;
  for (std::size_t pages = 0; pages < max_listed_pages; ++pages) {
    Request request = state_->request("GET", upload.place.bucket, upload.place.key);
    request.query["uploadId"] = upload.id;
    if (!from.empty()) request.query["part-number-marker"] = from;
    const auto outcome = state_->ask(std::move(request), what);
    if (!outcome.ok()) return outcome.status();
    Result<Page<Part>> page = read_parts(outcome->response.body);
    if (!page.ok()) return page.status().with_context(what);
    for (Part& part : page->entries) all.push_back(std::move(part));
    if (page->next.empty()) return all;
    from = page->next;
  }
  return Status(ErrorCode::limit_exceeded, what + ": there are too many");
}

Result<Place> parse_place(const std::string& text) {
  constexpr std::string_view scheme = "s3://";
  Place place;
  if (text.starts_with(scheme)) {
    const std::size_t slash = std::min(text.find('/', scheme.size()), text.size());
    place.bucket = text.substr(scheme.size(), slash - scheme.size());
    if (slash < text.size()) place.key = text.substr(slash + 1);
  }
  if (place.bucket.empty()) {
    return Status(ErrorCode::invalid_argument,
                  "'" + text + "' names no object: write s3://bucket/key");
  }
  return place;
}

}  // namespace hummer::s3
