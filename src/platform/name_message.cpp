#include "platform/name_message.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace hummer {
namespace {

constexpr std::size_t header_bytes = 12;
constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_label = 63;
constexpr std::size_t longest_chain = 16;
constexpr std::size_t most_addresses = 64;
constexpr std::uint16_t class_internet = 1;

constexpr std::uint16_t is_answer = 0x8000;
constexpr std::uint16_t operation_bits = 0x7800;
constexpr std::uint16_t was_truncated = 0x0200;
constexpr std::uint16_t recursion_desired = 0x0100;
constexpr std::uint16_t code_bits = 0x000f;

char small_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

void put_16(std::string& out, std::uint16_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}

// Every read is checked against the message's end.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : message_(message) {}

  std::size_t at() const { return at_; }
  bool skip(std::size_t bytes) {
    if (bytes > message_.size() - at_) return false;
    at_ += bytes;
    return true;
  }
  bool get_16(std::uint16_t& value) {
    if (message_.size() - at_ < 2) return false;
    value = static_cast<std::uint16_t>(byte(at_) << 8 | byte(at_ + 1));
    at_ += 2;
    return true;
  }
  bool get_32(std::uint32_t& value) {
    std::uint16_t high = 0, low = 0;
    if (!get_16(high) || !get_16(low)) return false;
    value = std::uint32_t{high} << 16 | low;
    return true;
  }
  bool get_bytes(std::uint8_t* into, std::size_t count) {
    if (message_.size() - at_ < count) return false;
    for (std::size_t i = 0; i < count; ++i) into[i] = byte(at_ + i);
    at_ += count;
    return true;
  }
  // A pointer leads to before the labels that it ends, so each jump comes nearer to the beginning.
  bool get_name(std::string& labels) {
    labels.clear();
    std::size_t run = at_;
    std::size_t position = at_;
    bool jumped = false;
    for (;;) {
      if (position >= message_.size()) return false;
      const std::size_t length = byte(position);
      if (length >= 0xc0) {
        if (position + 1 >= message_.size()) return false;
        const std::size_t target = (length & 0x3f) << 8 | byte(position + 1);
        if (target >= run) return false;
        if (!jumped) at_ = position + 2;
        jumped = true;
        run = position = target;
        continue;
      }
      if (length > longest_label || labels.size() + 1 + length > longest_name ||
          length >= message_.size() - position) {
        return false;
      }
      labels += message_[position];
      for (const char c : message_.substr(position + 1, length)) labels += small_letter(c);
      position += 1 + length;
      if (length > 0) continue;
      if (!jumped) at_ = position;
      return true;
    }
  }

 private:
  unsigned byte(std::size_t at) const { return static_cast<unsigned char>(message_[at]); }

  std::string_view message_;
  std::size_t at_ = 0;
};

struct Record {
  std::string owner;
  std::uint16_t type = 0;
  std::uint16_t in_class = 0;
  std::uint32_t kept_s = 0;
  std::uint16_t bytes = 0;
};

bool get_record(MessageReader& in, Record& record) {
  if (!in.get_name(record.owner) || !in.get_16(record.type) || !in.get_16(record.in_class) ||
      !in.get_32(record.kept_s) || !in.get_16(record.bytes)) {
    return false;
  }
  if (record.kept_s > 0x7fffffff) record.kept_s = 0;  // RFC 2181
  return true;
}

// What an answer says of names, before it is known which of them matter.
struct Facts {
  struct Alias {
    std::string owner;
    std::string target;
    std::uint32_t kept_s;
  };
  struct Address {
    std::string owner;
    SocketAddress address;
    std::uint32_t kept_s;
  };
  std::vector<Alias> aliases;
  std::vector<Address> addresses;
};

bool get_facts(MessageReader& in, std::uint16_t count, NameType type, Facts& facts) {
  for (; count > 0; --count) {
    Record record;
    if (!get_record(in, record)) return false;
    const std::size_t end = in.at() + record.bytes;
    const bool wanted = record.in_class == class_internet;
    if (wanted && record.type == static_cast<std::uint16_t>(NameType::alias)) {
      std::string target;
      if (!in.get_name(target) || in.at() != end) return false;
      if (facts.aliases.size() == longest_chain) return false;
      facts.aliases.push_back({std::move(record.owner), std::move(target), record.kept_s});
    } else if (wanted && record.type == static_cast<std::uint16_t>(type)) {
      SocketAddress address;
      address.is_ipv6 = type == NameType::ipv6;
      const std::size_t length = address.is_ipv6 ? 16 : 4;
      if (record.bytes != length || !in.get_bytes(address.bytes.data(), length)) return false;
      if (facts.addresses.size() < most_addresses) {
        facts.addresses.push_back({std::move(record.owner), address, record.kept_s});
      }
    } else if (!in.skip(record.bytes)) {
      return false;
    }
  }
  return true;
}

// Follows the aliases from the question's name. False: they lead round in a circle.
bool follow(const Facts& facts, const std::string& question, NameAnswer& answer) {
  const std::string* name = &question;
  std::uint32_t kept_s = UINT32_MAX;
  for (std::size_t steps = 0;; ++steps) {
    const auto alias = std::find_if(facts.aliases.begin(), facts.aliases.end(),
                                    [&](const auto& each) { return each.owner == *name; });
    if (alias == facts.aliases.end()) break;
    if (steps == longest_chain) return false;
    name = &alias->target;
    kept_s = std::min(kept_s, alias->kept_s);
  }
  for (const Facts::Address& each : facts.addresses) {
    if (each.owner != *name) continue;
    answer.addresses.push_back(each.address);
    kept_s = std::min(kept_s, each.kept_s);
  }
  if (answer.addresses.empty()) {
    if (name != &question) answer.alias = *name;
  } else {
    answer.kept_s = kept_s;
  }
  return true;
}

// How long the zone lets others remember that a name is not there (RFC 2308).
std::uint32_t kept_without_address(MessageReader& in, std::uint16_t count) {
  for (; count > 0; --count) {
    Record record;
    if (!get_record(in, record)) return 0;
    if (record.type != static_cast<std::uint16_t>(NameType::authority)) {
      if (!in.skip(record.bytes)) return 0;
      continue;
    }
    std::string source, mailbox;
    std::uint32_t least = 0;
    const bool valid = in.get_name(source) && in.get_name(mailbox) && in.skip(16) &&
                       in.get_32(least);  // serial, refresh, retry, expire; minimum
    return valid ? std::min(least, record.kept_s) : 0;
  }
  return 0;
}

}  // namespace

std::string labels_of(std::string_view name) {
  if (!name.empty() && name.back() == '.') name.remove_suffix(1);
  std::string labels;
  for (bool more = true; more;) {
    const std::size_t dot = name.find('.');
    const std::string_view label = name.substr(0, dot);
    if (label.empty() || label.size() > longest_label) return {};
    labels += static_cast<char>(label.size());
    for (const char c : label) {
      labels += small_letter(c);
      if (!is_name_character(labels.back())) return {};
    }
    more = dot != name.npos;
    if (more) name.remove_prefix(dot + 1);
  }
  labels += '\0';
  return labels.size() > longest_name ? std::string() : labels;
}

std::string name_of(std::string_view labels) {
  std::string name;
  while (!labels.empty() && labels.front() != '\0') {
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(labels.front()));
    if (!name.empty()) name += '.';
    for (const char c : labels.substr(1, length)) name += is_name_character(c) ? c : '?';
    labels.remove_prefix(std::min(labels.size(), 1 + length));
  }
  return name;
}

std::string encode_question(const NameQuestion& question) {
  std::string out;
  put_16(out, question.id);
  put_16(out, recursion_desired);
  put_16(out, 1);  // questions; answers, authorities and further records: none
  out.append(6, '\0');
  out += question.labels;
  put_16(out, static_cast<std::uint16_t>(question.type));
  put_16(out, class_internet);
  return out;
}

AnswerReading read_answer(std::string_view message, const NameQuestion& question,
                          NameAnswer& answer) {
  answer = {};
  MessageReader in(message);
  std::uint16_t id = 0, flags = 0, questions = 0, answers = 0, authorities = 0, further = 0;
  if (message.size() < header_bytes || !in.get_16(id) || !in.get_16(flags) ||
      !in.get_16(questions) || !in.get_16(answers) || !in.get_16(authorities) ||
      !in.get_16(further)) {
    return AnswerReading::foreign;
  }
  if (id != question.id || (flags & is_answer) == 0 || (flags & operation_bits) != 0) {
    return AnswerReading::foreign;
  }
  answer.truncated = (flags & was_truncated) != 0;
  answer.code = static_cast<std::uint8_t>(flags & code_bits);
  // A server that could not read the question may leave it out.
  if (questions == 0 && answer.code != 0) return AnswerReading::read;
  std::string asked;
  std::uint16_t type = 0, in_class = 0;
  if (questions != 1 || !in.get_name(asked) || !in.get_16(type) || !in.get_16(in_class) ||
      asked != question.labels || type != static_cast<std::uint16_t>(question.type) ||
      in_class != class_internet) {
    return AnswerReading::foreign;
  }
  if (answer.truncated) return AnswerReading::read;
  Facts facts;
  if (!get_facts(in, answers, question.type, facts) || !follow(facts, question.labels, answer)) {
    answer = {};
    return AnswerReading::damaged;
  }
  if (answer.addresses.empty()) answer.kept_s = kept_without_address(in, authorities);
  return AnswerReading::read;
}

}  // namespace hummer
