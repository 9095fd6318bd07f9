// Answers of a name server that is a stranger's: whatever comes, nothing is read beyond it, and
// what is made of it keeps its limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "platform/name_message.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  hummer::NameQuestion question;
  // The id that it has, so that what comes behind is read.
  if (size >= 2) question.id = static_cast<std::uint16_t>(data[0] << 8 | data[1]);
  question.labels = hummer::labels_of("www.example.org");
  for (const hummer::NameType type : {hummer::NameType::ipv4, hummer::NameType::ipv6}) {
    question.type = type;
    hummer::NameAnswer answer;
    const hummer::AnswerReading reading = hummer::read_answer(message, question, answer);
    require(answer.addresses.size() <= 64 && answer.alias.size() <= 255);
    require(answer.alias.empty() || answer.alias.back() == '\0');
    if (reading != hummer::AnswerReading::read) require(answer.addresses.empty());
    for (const hummer::SocketAddress& address : answer.addresses) {
      require(address.is_ipv6 == (type == hummer::NameType::ipv6) && address.port == 0);
    }
    (void)hummer::name_of(answer.alias);
  }
  (void)hummer::labels_of(message);
  (void)hummer::name_of(message);
  return 0;
}
