// What librdkafka's handles need to be used in C++: owners, configurations, errors as Status.
//
//   Result<Client> made = make_client(RD_KAFKA_PRODUCER, connection, {{"linger.ms", "5"}}, {});
//   if (!made.ok()) return made.status();
//
// Thread: librdkafka's handles may be used by any; a Client belongs to one.
#pragma once

#include <librdkafka/rdkafka.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <hummer/kafka/settings.hpp>
#include <hummer/status.hpp>

namespace hummer::kafka {

template <auto destroy>
struct DestroyedBy {
  template <typename T>
  void operator()(T* handle) const {
    destroy(handle);
  }
};

using ClientHandle = std::unique_ptr<rd_kafka_t, DestroyedBy<rd_kafka_destroy>>;
using ConfigurationHandle = std::unique_ptr<rd_kafka_conf_t, DestroyedBy<rd_kafka_conf_destroy>>;
using QueueHandle = std::unique_ptr<rd_kafka_queue_t, DestroyedBy<rd_kafka_queue_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, DestroyedBy<rd_kafka_topic_destroy>>;
using ErrorHandle = std::unique_ptr<rd_kafka_error_t, DestroyedBy<rd_kafka_error_destroy>>;
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                      DestroyedBy<rd_kafka_topic_partition_list_destroy>>;

using Options = std::map<std::string, std::string>;

// What librdkafka's own threads, or a poll, say of a client. Thread: any.
class ClientEvents {
 public:
  explicit ClientEvents(std::string path) : token_file(std::move(path)) {}

  const std::string token_file;  // of Connection
  // The newest error that concerns the client as a whole, such as a broker that refuses: what a
  // call that merely timed out is explained by.
  void set_last_error(std::string text) {
    const std::lock_guard lock(mutex_);
    last_error_ = std::move(text);
  }
  std::string last_error() const {
    const std::lock_guard lock(mutex_);
    return last_error_;
  }
  // Of a producer: the first record that could not be delivered.
  void set_undelivered(Status status) {
    const std::lock_guard lock(mutex_);
    if (undelivered_.ok()) undelivered_ = std::move(status);
  }
  Status undelivered() const {
    const std::lock_guard lock(mutex_);
    return undelivered_;
  }

 private:
  mutable std::mutex mutex_;
  std::string last_error_;
  Status undelivered_;
};

struct Client {
  std::unique_ptr<ClientEvents> events;
  ClientHandle handle;  // destroyed ahead of its events

  rd_kafka_t* get() const { return handle.get(); }
};

// `own` is what the connector wants where the author has not said otherwise, `fixed` what its
// guarantees stand on.
Result<Client> make_client(rd_kafka_type_t type, const Connection& connection, const Options& own,
                           const Options& fixed);

// Whether librdkafka knows all of them and takes their values; `fixed` may not be among them.
Status check_options(const Connection& connection, const Options& fixed);

// `what` was tried; the code by what kind of error it is.
Status failure(rd_kafka_resp_err_t error, const std::string& what, const std::string& more = {});
Status failure(const rd_kafka_error_t* error, const std::string& what);

}  // namespace hummer::kafka
