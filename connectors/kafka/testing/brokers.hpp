// Brokers: Apache Kafka for a test, and what a test asks it beside what it tests.
//
//   Brokers* brokers = Brokers::shared();
//   if (brokers == nullptr) GTEST_SKIP() << Brokers::why_not();
//   const std::string topic = brokers->make_topic("orders", 4);
//   brokers->write(topic, {{.key = "a", .value = "1"}});
//
// shared() is one broker for all tests of the program, which make topics with names of their own.
// Thread: one.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hummer::kafka {

struct Written {
  std::string key;
  std::optional<std::string> value;
  std::int32_t partition = -1;
  std::int64_t time_ms = 0;
  std::vector<std::pair<std::string, std::string>> headers = {};

  friend bool operator==(const Written&, const Written&) = default;
};

class Brokers {
 public:
  // Null: there is no Java, or no Maven to fetch Kafka with; why_not() says so.
  static Brokers* shared();
  static std::unique_ptr<Brokers> start(int count, const std::vector<std::string>& arguments = {});
  // Those that run already.
  static std::unique_ptr<Brokers> at(const std::string& addresses);
  static std::string why_not();
  ~Brokers();

  // What the calls below connect with, where the brokers ask for it.
  void use(std::map<std::string, std::string> options, std::string token_file = {}) {
    options_ = std::move(options);
    token_file_ = std::move(token_file);
  }
  const std::string& addresses() const { return addresses_; }
  std::string address(int number) const;
  // "kill 1", "start 1", "stop 1": see `cluster`.
  void tell(const std::string& command);

  // With a name that begins so, and no other topic has.
  std::string make_topic(const std::string& name, int partitions,
                         const std::vector<std::pair<std::string, std::string>>& settings = {});
  void add_partitions(const std::string& topic, int partitions);
  void delete_records(const std::string& topic, std::int32_t partition, std::int64_t before);
  // In order, and waits until the brokers have them.
  void write(const std::string& topic, const std::vector<Written>& records);
  // The same in a transaction, which is aborted.
  void write_aborted(const std::string& topic, const std::vector<Written>& records);
  // What a reader of committed records sees, partition by partition, up to the end.
  std::vector<Written> read(const std::string& topic);
  // Of partition 0, 1, …: what the group has committed; -1001: nothing.
  std::vector<std::int64_t> committed(const std::string& group, const std::string& topic,
                                      int partitions);

 private:
  Brokers() = default;
  bool begin(int count, const std::vector<std::string>& arguments);

  std::string directory_;
  std::string addresses_;
  std::map<std::string, std::string> options_;
  std::string token_file_;
  int process_ = -1;
  std::FILE* commands_ = nullptr;
  std::FILE* answers_ = nullptr;
};

}  // namespace hummer::kafka
