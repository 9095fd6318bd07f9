// Counts the words of the records of one topic, and writes each new count to another one, whose key
// is the word. Ends when it has read what was there at its start, unless --follow.
//
//   kafka_word_count --brokers localhost:9092 --from lines --to counts --guarantee at_least_once
#include <string>

#include <hummer/hummer.hpp>
#include <hummer/kafka/sink.hpp>
#include <hummer/kafka/source.hpp>

namespace {

void split(std::string_view line, hummer::Collector<std::string_view>& out) {
  for (const std::string_view word : hummer::words(line)) out(word);
}

void word_count(hummer::StreamExecutionEnvironment& env) {
  namespace kafka = hummer::kafka;

  kafka::SourceSettings lines{.connection = {.brokers = env.argument("brokers")},
                              .topics = {env.argument("from")}};
  if (!env.flag("follow")) lines.end = kafka::Offsets::latest();
  lines.group = env.argument_or("group", "");

  kafka::SinkSettings counts{.connection = lines.connection, .topic = env.argument("to")};
  counts.transactional_id = env.argument_or("transactional-id", "word-count");
  if (env.argument_or("guarantee", "exactly_once") == "at_least_once") {
    counts.guarantee = kafka::Guarantee::at_least_once;
  }

  const auto counted =
      kafka::from_topics(env, "lines", lines,
                         [](const kafka::Record& record) { return record.value.value_or(""); })
          .flat_map(split)
          .key_by(hummer::identity)
          .count();
  kafka::to_topics(counted, "counts", counts, [](const auto& count, kafka::Message& message) {
    message.key(count.key);
    message.value(std::to_string(count.value));
  });
  env.execute("Kafka word count");
}

}  // namespace

HUMMER_JOB(word_count)
