#include "platform/tls_stream.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <algorithm>
#include <utility>

#include "platform/tls_failure.hpp"

namespace hummer {
namespace {

constexpr std::size_t record_bytes = 16 * 1024;
constexpr std::size_t gathered_bytes = 64 * 1024;
// A record's header, padding and tag, generously.
constexpr std::size_t record_overhead_bytes = 64;
constexpr char handshake_type = 22;
// "protocol_version", so that a peer that speaks something else can say what is wrong; long enough
// to be looked at as the head of a frame.
constexpr std::string_view plain_text_alert(
    "\x15\x03\x03\x00\x02\x02\x46\x15\x03\x03\x00\x02\x02\x46", 14);
constexpr Nanoseconds linger_ns = seconds(1);
constexpr std::size_t most_drained_bytes = 256 * 1024;
constexpr int most_lingering = 512;

TlsStream& stream_of(BIO* bio) { return *static_cast<TlsStream*>(BIO_get_data(bio)); }

int bio_read(BIO* bio, char* into, std::size_t size, std::size_t* got) {
  BIO_clear_retry_flags(bio);
  *got = 0;
  const int result = stream_of(bio).read_below({into, size}, *got);
  if (result < 0) BIO_set_retry_read(bio);
  return result > 0 ? 1 : 0;
}

int bio_write(BIO* bio, const char* bytes, std::size_t size, std::size_t* put) {
  BIO_clear_retry_flags(bio);
  stream_of(bio).write_below({bytes, size});
  *put = size;
  return 1;
}

long bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return stream_of(bio).ended_below() ? 1 : 0;
  return 0;
}

// OpenSSL's table of functions for our BIO: made once, constant, freed by nobody.
BIO_METHOD* stream_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "byte stream");
    HUMMER_ASSERT(made != nullptr && BIO_meth_set_read_ex(made, &bio_read) == 1 &&
                  BIO_meth_set_write_ex(made, &bio_write) == 1 &&
                  BIO_meth_set_ctrl(made, &bio_control) == 1);
    return made;
  }();
  return method;
}

// One step; true: nothing is left to be done.
bool say_goodbye(ByteStream& below, std::string& rest, std::size_t& drained_bytes) {
  while (!rest.empty()) {
    const Result<std::size_t> put = below.try_write(rest);
    if (!put.ok()) return true;
    if (*put == would_block) return false;
    rest.erase(0, *put);
    if (rest.empty() && !below.shutdown_write().ok()) return true;
  }
  std::array<char, 4096> dropped;  // NOLINT: filled by the read
  while (drained_bytes < most_drained_bytes) {
    const Result<std::size_t> got = below.try_read(dropped);
    if (!got.ok() || *got == 0) return true;
    if (*got == would_block) return false;
    drained_bytes += *got;
  }
  return true;
}

}  // namespace

// One of the few connections that may be on their way out at once.
struct TlsStream::LingerPlace {
  explicit LingerPlace(std::shared_ptr<const TlsSettings> settings_)
      : settings(std::move(settings_)) {
    settings->lingering.fetch_add(1);
  }
  ~LingerPlace() { settings->lingering.fetch_sub(1); }
  LingerPlace(const LingerPlace&) = delete;
  LingerPlace& operator=(const LingerPlace&) = delete;

  const std::shared_ptr<const TlsSettings> settings;
  std::size_t drained_bytes = 0;
};

TlsStream::TlsStream(std::shared_ptr<const TlsSettings> settings, std::unique_ptr<ByteStream> below)
    : settings_(std::move(settings)),
      below_(std::move(below)),
      is_server_(true),
      peer_(below_->peer_address()) {
  put_over(*below_, this);
}

TlsStream::TlsStream(std::shared_ptr<const TlsSettings> settings, std::unique_ptr<ByteStream> below,
                     std::string peer_name)
    : settings_(std::move(settings)),
      below_(std::move(below)),
      is_server_(false),
      peer_name_(std::move(peer_name)),
      peer_(below_->peer_address()) {
  put_over(*below_, this);
}

// As close(), but nobody is woken: events may have gone before.
TlsStream::~TlsStream() {
  if (closed()) return;
  if (executor() != nullptr) do_detach();
  do_close();
}

SocketAddress TlsStream::local_address() const {
  return below_ != nullptr ? below_->local_address() : SocketAddress();
}

int TlsStream::read_below(std::span<char> into, std::size_t& got) {
  if (first_taken_ < first_bytes_) {
    got = std::min(into.size(), first_bytes_ - first_taken_);
    std::copy_n(first_.data() + first_taken_, got, into.data());
    first_taken_ += got;
    return 1;
  }
  const Result<std::size_t> read = below_->try_read(into);
  if (!read.ok()) {
    failure_below_ = read.status();
    return 0;
  }
  if (*read == would_block) return -1;
  if (*read == 0) {
    ended_below_ = true;
    return 0;
  }
  got = *read;
  return 1;
}

void TlsStream::begin() {
  ssl_.reset(SSL_new(settings_->ssl.get()));
  BIO* bio = BIO_new(stream_method());
  HUMMER_ASSERT(ssl_ != nullptr && bio != nullptr);  // else out of memory
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  X509_VERIFY_PARAM* verification = SSL_get0_param(ssl_.get());
  X509_VERIFY_PARAM_set_time(verification,
                             static_cast<time_t>(settings_->platform->wall_time_ms() / 1000));
  if (is_server_) {
    const int asks = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_set_verify(ssl_.get(), settings_->verify_peer ? asks : SSL_VERIFY_NONE, nullptr);
    SSL_set_accept_state(ssl_.get());
    return;
  }
  SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, nullptr);
  SSL_set_connect_state(ssl_.get());
  // An address is looked for among the certificate's addresses, a name among its names.
  if (X509_VERIFY_PARAM_set1_ip_asc(verification, peer_name_.c_str()) != 1) {
    ERR_clear_error();
    HUMMER_ASSERT(SSL_set1_host(ssl_.get(), peer_name_.c_str()) == 1);
    SSL_set_tlsext_host_name(ssl_.get(), peer_name_.c_str());
  }
}

Result<bool> TlsStream::look_at_first_bytes() {
  while (first_bytes_ < first_.size()) {
    const Result<std::size_t> got =
        below_->try_read({first_.data() + first_bytes_, first_.size() - first_bytes_});
    if (!got.ok()) return fail(got.status());
    if (*got == would_block) return false;
    if (*got == 0) return fail({ErrorCode::peer_gone, "the peer closed the connection"});
    first_bytes_ += *got;
    if (first_[0] == handshake_type) continue;
    outgoing_ = plain_text_alert;
    (void)flush();
    return fail(plain_text_failure(true));
  }
  return true;
}

Result<bool> TlsStream::ready() {
  if (!failure_.ok()) return failure_;
  if (open_) return true;
  if (ssl_ == nullptr) {
    if (is_server_) {
      Result<bool> handshake = look_at_first_bytes();
      if (!handshake.ok() || !*handshake) return handshake;
    }
    begin();
  }
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  const int error = result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), result);
  const bool goes_on = error == SSL_ERROR_NONE || error == SSL_ERROR_WANT_READ;
  if (!goes_on) (void)fail(failure_of(result));
  const Result<bool> flushed = flush();
  if (!goes_on) return failure_;
  if (!flushed.ok()) return flushed.status();
  if (result != 1) return false;
  open_ = true;
  // Strangers get the small buffer of the handshake only.
  SSL_set_default_read_buffer_len(ssl_.get(), gathered_bytes);
  // Both directions may have waited for it.
  readable();
  writable();
  return true;
}

Status TlsStream::fail(Status why) {
  if (failure_.ok()) failure_ = std::move(why);
  return failure_;
}

Status TlsStream::failure_of(int result) {
  if (!failure_below_.ok()) return failure_below_;
  const int error = SSL_get_error(ssl_.get(), result);
  if (ended_below_) {
    ERR_clear_error();
    return {ErrorCode::connection_lost,
            open_ ? "the peer ended the connection without a TLS goodbye"
                  : "the peer ended the connection while hands were shaken; does it speak TLS?"};
  }
  if (error == SSL_ERROR_SSL) return tls_failure(ssl_.get(), peer_name_);
  return {ErrorCode::connection_lost, "TLS with the peer ended: " + openssl_reason()};
}

Result<std::size_t> TlsStream::try_read(std::span<char> into) {
  if (closed()) return closed_failure();
  if (into.empty()) return std::size_t{0};
  const Result<bool> is_ready = ready();
  if (!is_ready.ok()) return is_ready.status();
  if (!*is_ready) return would_block;
  if (ended_) return std::size_t{0};
  std::size_t total = 0;
  bool waits = false;
  while (total < into.size()) {
    std::size_t got = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(ssl_.get(), into.data() + total, into.size() - total, &got);
    if (result == 1) {
      total += got;
      continue;
    }
    const int error = SSL_get_error(ssl_.get(), result);
    waits = error == SSL_ERROR_WANT_READ;
    ended_ = error == SSL_ERROR_ZERO_RETURN;
    if (!waits && !ended_) (void)fail(failure_of(result));
    break;
  }
  // What reading itself had to answer.
  if (!outgoing_.empty()) (void)flush();
  if (total > 0) return total;  // a failure is said by the next call
  if (!failure_.ok()) return failure_;
  if (waits) return would_block;
  return std::size_t{0};
}

Result<std::size_t> TlsStream::try_write(std::span<const char> bytes) {
  if (closed()) return closed_failure();
  if (write_ended_) {
    return Status(ErrorCode::connection_lost, "this side ended its half of the connection");
  }
  const Result<bool> is_ready = ready();
  if (!is_ready.ok()) return is_ready.status();
  if (!*is_ready) return would_block;
  const Result<bool> flushed = flush();
  if (!flushed.ok()) return flushed.status();
  if (!*flushed) return would_block;
  std::size_t total = 0;
  while (total < bytes.size()) {
    const std::size_t count = std::min(bytes.size() - total, gathered_bytes);
    const std::size_t records = (count + record_bytes - 1) / record_bytes;
    outgoing_.reserve(count + records * record_overhead_bytes);
    std::size_t put = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(ssl_.get(), bytes.data() + total, count, &put);
    if (result != 1) return fail(failure_of(result));
    total += put;
    const Result<bool> gone = flush();
    if (!gone.ok()) return gone.status();
    if (!*gone) break;
  }
  return total;
}

Result<bool> TlsStream::flush() {
  // What the stream below notifies while it is written to must not write too.
  if (flushing_) return false;
  flushing_ = true;
  while (outgoing_sent_ < outgoing_.size()) {
    const Result<std::size_t> put =
        below_->try_write({outgoing_.data() + outgoing_sent_, outgoing_.size() - outgoing_sent_});
    if (put.ok() && *put != would_block) {
      outgoing_sent_ += *put;
      continue;
    }
    flushing_ = false;
    if (put.ok()) return false;
    // What the peer said before it went can still be read.
    return put.status();
  }
  flushing_ = false;
  if (!outgoing_.empty()) std::string().swap(outgoing_);
  outgoing_sent_ = 0;
  if (write_ended_) (void)below_->shutdown_write();
  return true;
}

void TlsStream::below_is_ready(bool can_read, bool can_write) {
  if (closed()) return;
  if (can_write && !outgoing_.empty()) (void)flush();
  if (can_read || !open_) readable();
  if (can_write || !open_) writable();
}

Status TlsStream::shutdown_write() {
  if (closed()) return closed_failure();
  if (!failure_.ok()) return failure_;
  if (write_ended_) return {};
  write_ended_ = true;
  ERR_clear_error();
  if (open_) SSL_shutdown(ssl_.get());
  const Result<bool> flushed = flush();
  return flushed.ok() ? Status() : flushed.status();
}

void TlsStream::do_attach(Executor& executor) {
  below_->set_wake_events(executor, nullptr, nullptr);
}

void TlsStream::do_detach() { below_->detach(); }

void TlsStream::do_close() {
  ERR_clear_error();
  if (open_ && failure_.ok() && !write_ended_) SSL_shutdown(ssl_.get());
  const Result<bool> flushed = flush();
  const bool refused = failure_.code() == ErrorCode::tls_failed;
  put_over(*below_, nullptr);
  auto place = std::make_unique<LingerPlace>(settings_);
  const bool has_words = flushed.ok() && (!*flushed || refused) && executor() != nullptr;
  if (has_words && settings_->lingering.load() <= most_lingering) {
    std::string rest = outgoing_.substr(outgoing_sent_);
    if (rest.empty()) (void)below_->shutdown_write();
    executor()->spawn(linger(std::move(place), std::move(below_), std::move(rest)));
  } else {
    below_->close();
  }
  ssl_.reset();
  std::string().swap(outgoing_);
  outgoing_sent_ = 0;
}

// Closing under bytes that still come would take the last words away again (a TCP reset).
Task<void> TlsStream::linger(std::unique_ptr<LingerPlace> place, std::unique_ptr<ByteStream> below,
                             std::string rest) {
  Executor& executor = co_await current_executor();
  const Nanoseconds deadline = executor.now() + linger_ns;
  WakeEvent event;
  below->set_wake_events(executor, &event, &event);
  while (true) {
    event.prepare_wait();
    if (say_goodbye(*below, rest, place->drained_bytes)) {
      event.cancel_wait();
      break;
    }
    const bool in_time = co_await event.wait_until(deadline);
    if (!in_time) break;
  }
  below->set_wake_events(executor, nullptr, nullptr);
  below->close();
}

}  // namespace hummer
