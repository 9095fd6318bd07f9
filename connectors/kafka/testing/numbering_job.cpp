// For tests that kill it: numbers the records of each key, from 1 on, and writes the numbers with
// the keys that they have. Whoever reads them sees each number once and in order, or something was
// lost, doubled or turned round.
#include <string>

#include <hummer/hummer.hpp>
#include <hummer/kafka/sink.hpp>
#include <hummer/kafka/source.hpp>

namespace {

struct Numbered {
  std::string key;
  std::uint64_t number;
};

struct Numbering {
  hummer::ValueState<std::uint64_t> seen{"seen"};

  void process(const std::string& key, hummer::KeyedOutput<Numbered>& out) {
    const std::uint64_t number = seen.get_or(0) + 1;
    seen.set(number);
    out.emit(Numbered{key, number});
  }
};

void numbering(hummer::StreamExecutionEnvironment& env) {
  namespace kafka = hummer::kafka;

  kafka::SourceSettings in{.connection = {.brokers = env.argument("brokers")},
                           .topics = {env.argument("from")}};
  if (!env.flag("follow")) in.end = kafka::Offsets::latest();
  in.discovery_interval_ms = 500;
  const std::string to = env.argument("to");
  kafka::SinkSettings out{
      .connection = in.connection, .topic = to, .transactional_id = to + "-sink"};
  const std::string guarantee = env.argument_or("guarantee", "exactly_once");
  if (guarantee == "exactly_once_open") out.guarantee = kafka::Guarantee::exactly_once_open;
  if (guarantee == "at_least_once") out.guarantee = kafka::Guarantee::at_least_once;
  if (env.flag("lost-go-on")) out.lost_transactions = kafka::LostTransactions::go_on;
  const std::string timeout_ms = env.argument_or("transaction-timeout-ms", "");
  if (!timeout_ms.empty()) {
    out.connection.options = {{"transaction.timeout.ms", timeout_ms},
                              {"message.timeout.ms", timeout_ms}};
  }
  const auto numbers = kafka::from_topics(env, "in", in,
                                          [](const kafka::Record& record) {
                                            return std::string(record.key.value_or(""));
                                          })
                           .key_by(hummer::identity)
                           .process(Numbering{});
  kafka::to_topics(numbers, "out", out, [](const Numbered& numbered, kafka::Message& message) {
    message.key(numbered.key);
    message.value(std::to_string(numbered.number));
  });
  env.execute("numbering");
}

}  // namespace

HUMMER_JOB(numbering)
