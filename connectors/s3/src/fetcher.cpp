#include "fetcher.hpp"

#include <algorithm>
#include <utility>

namespace hummer::s3 {
namespace {

constexpr std::uint64_t piece_bytes = 2 << 20;
constexpr std::size_t fetching_threads = 2;

}  // namespace

Fetcher::~Fetcher() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Fetcher::run(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (threads_.size() < fetching_threads) threads_.emplace_back([this] { work(); });
  }
  changed_.notify_one();
}

void Fetcher::work() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
      if (ending_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

ObjectPieces::ObjectPieces(Fetcher& fetcher, Place place, std::string etag,
                           std::uint64_t size_bytes, std::function<void()> wake)
    : fetcher_(fetcher), place_(std::move(place)), etag_(std::move(etag)), size_(size_bytes) {
  shared_->wake = std::move(wake);
}

ObjectPieces::~ObjectPieces() {
  const std::lock_guard lock(shared_->mutex);
  shared_->wake = nullptr;
}

std::shared_ptr<ObjectPieces::Piece> ObjectPieces::want(std::uint64_t number) {
  for (const auto& piece : pieces_) {
    if (piece->number == number) return piece;
  }
  auto piece = std::make_shared<Piece>();
  piece->number = number;
  pieces_.push_back(piece);
  const std::uint64_t at = number * piece_bytes;
  const std::size_t length = std::min(piece_bytes, size_ - at);
  fetcher_.run([piece, at, length, shared = shared_, place = place_, etag = etag_,
                &client = fetcher_.client()] {
    std::string bytes(length, '\0');
    const Result<std::size_t> got = client.get(place, at, {bytes.data(), length}, etag);
    const std::lock_guard lock(shared->mutex);
    piece->status = got.status();
    if (got.ok() && *got < length) {
      piece->status = {ErrorCode::file_changed, "'" + place.text() + "' has become shorter"};
    }
    piece->bytes = std::move(bytes);
    piece->ready = true;
    shared->ready.notify_all();
    if (shared->wake) shared->wake();
  });
  return piece;
}

void ObjectPieces::drop_all_but(std::uint64_t first, std::uint64_t last) {
  std::erase_if(pieces_,
                [&](const auto& piece) { return piece->number < first || piece->number > last; });
}

bool ObjectPieces::are_at_hand(std::uint64_t offset, std::size_t length) {
  if (offset >= size_ || length == 0) return true;
  const std::uint64_t end = std::min<std::uint64_t>(size_, offset + length);
  const std::uint64_t first = offset / piece_bytes;
  const std::uint64_t last = (end - 1) / piece_bytes;
  const std::uint64_t ahead = last + 1;
  drop_all_but(first, ahead);
  bool all = true;
  for (std::uint64_t number = first; number <= last; ++number) {
    const std::shared_ptr<Piece> piece = want(number);
    const std::lock_guard lock(shared_->mutex);
    all &= piece->ready;
  }
  if (ahead * piece_bytes < size_) (void)want(ahead);
  return all;
}

Result<std::size_t> ObjectPieces::read_at(std::uint64_t offset, std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size() && offset + done < size_) {
    const std::uint64_t number = (offset + done) / piece_bytes;
    const std::shared_ptr<Piece> piece = want(number);
    {
      std::unique_lock lock(shared_->mutex);
      shared_->ready.wait(lock, [&] { return piece->ready; });
    }
    if (!piece->status.ok()) {
      // Another try may have more luck.
      std::erase(pieces_, piece);
      return piece->status;
    }
    const std::uint64_t within = offset + done - number * piece_bytes;
    done +=
        std::string_view(piece->bytes).substr(within).copy(into.data() + done, into.size() - done);
  }
  return done;
}

}  // namespace hummer::s3
