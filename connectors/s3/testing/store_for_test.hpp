// StoreForTest: a real object store with a proxy that fails as it is told, for tests.
//
//   StoreForTest* store = StoreForTest::shared();
//   if (store == nullptr) GTEST_SKIP() << StoreForTest::why_not();
//   store->faults(R"({"lose": [1, 0, 1], "methods": ["PUT"]})");   // see testing/store
//
// One for all tests of the program, which use folders of their own; it ends with the program.
// Thread: one.
#pragma once

#include <memory>
#include <string>

#include <hummer/s3/client.hpp>

namespace hummer::s3 {

class StoreForTest {
 public:
  // Null: there is no program of a store here.
  static StoreForTest* shared();
  static std::string why_not();
  ~StoreForTest();

  // Of the proxy, and of the store itself.
  const std::string& endpoint() const { return proxy_; }
  const std::string& direct_endpoint() const { return direct_; }
  Settings settings() const;
  // Through the proxy.
  Client& client();
  // "tests/NAME-…", which no other test has, as a key's begin.
  std::string make_folder(const std::string& name);

  void faults(const std::string& json);
  void kill();
  void start();
  void reset_counts();
  // How many requests of this kind ("PUT", "POST uploads") have come since.
  int count(const std::string& kind);
  int failed(const std::string& fault);

 private:
  StoreForTest() = default;
  bool begin();
  std::string ask(const std::string& path, const std::string& body = {});

  std::string directory_;
  std::string direct_;
  std::string proxy_;
  std::unique_ptr<Client> client_;
  int to_ = -1;
  int process_ = -1;
  int folders_ = 0;
};

}  // namespace hummer::s3
