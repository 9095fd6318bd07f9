// The firm quotes of Avro files as Protobuf messages, each with its length ahead:
//
//   firm_quotes --input quotes.avro --output quotes.pb
//
// Quotes that do not fit go to the file `bad`, with their places and reasons.
#include <cstdint>
#include <optional>
#include <string_view>

#include <hummer/formats/avro.hpp>
#include <hummer/formats/protobuf.hpp>
#include <hummer/hummer.hpp>

struct Quote {
  std::int64_t id = 0;
  std::string_view name;
  double price = 0;
  std::int32_t size = 0;
  bool firm = false;
  std::optional<std::string_view> note;
};

constexpr hummer::SideOutput<hummer::FailedRecord<std::string_view>> bad{"bad quotes"};

void firm_quotes(hummer::StreamExecutionEnvironment& env) {
  const auto quotes = hummer::formats::from_avro<Quote>(env, env.argument("input"))
                          .on_failure(hummer::failures_to(bad));
  quotes.side_output(bad).write_file(env.argument_or("bad", "bad"));
  const auto firm = quotes.filter([](const Quote& quote) { return quote.firm; });
  hummer::formats::write_protobuf(firm, env.argument("output"));
  env.execute("Firm quotes");
}

HUMMER_JOB(firm_quotes)
