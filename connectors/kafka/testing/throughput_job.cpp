// For measurements: writes --records of 100 bytes (10 of key) to a topic, or reads as many from it.
//
//   kafka_throughput --brokers localhost:9092 --topic t --records 5000000 --write exactly_once
//   kafka_throughput --brokers localhost:9092 --topic t --read
#include <array>
#include <string>

#include <hummer/hummer.hpp>
#include <hummer/kafka/sink.hpp>
#include <hummer/kafka/source.hpp>

namespace {

constexpr std::size_t key_digits = 10;
constexpr std::size_t value_bytes = 90;

void read(hummer::StreamExecutionEnvironment& env, const hummer::kafka::Connection& connection,
          const std::string& topic) {
  hummer::kafka::from_topics(
      env, "read",
      {.connection = connection, .topics = {topic}, .end = hummer::kafka::Offsets::latest()},
      [](const hummer::kafka::Record& record) {
        return static_cast<std::uint64_t>(record.key->size() + record.value->size());
      })
      .for_each(
          [bytes = hummer::Counter("payload_bytes")](std::uint64_t length) { bytes.add(length); });
}

void write(hummer::StreamExecutionEnvironment& env, const hummer::kafka::Connection& connection,
           const std::string& topic, const std::string& guarantee) {
  hummer::kafka::SinkSettings settings{
      .connection = connection, .topic = topic, .transactional_id = topic + "-throughput"};
  if (guarantee == "at_least_once") {
    settings.guarantee = hummer::kafka::Guarantee::at_least_once;
  }
  if (guarantee == "exactly_once_open") {
    settings.guarantee = hummer::kafka::Guarantee::exactly_once_open;
  }
  hummer::kafka::to_topics(
      env.generate([](std::uint64_t i) { return i; },
                   hummer::GeneratorOptions{.count = std::stoull(env.argument("records")),
                                            .timestamps = false}),
      "write", settings, [](const std::uint64_t& number, hummer::kafka::Message& message) {
        char key[key_digits];
        std::uint64_t rest = number;
        for (std::size_t at = key_digits; at-- > 0; rest /= 10) {
          key[at] = static_cast<char>('0' + rest % 10);
        }
        static constexpr auto value = [] {
          std::array<char, value_bytes> bytes{};
          bytes.fill('x');
          return bytes;
        }();
        message.key({key, key_digits});
        message.value({value.data(), value.size()});
      });
}

void throughput(hummer::StreamExecutionEnvironment& env) {
  const hummer::kafka::Connection connection{.brokers = env.argument("brokers")};
  const std::string topic = env.argument("topic");
  if (env.flag("read")) {
    read(env, connection, topic);
  } else {
    write(env, connection, topic, env.argument("write"));
  }
  env.execute("throughput");
}

}  // namespace

HUMMER_JOB(throughput)
