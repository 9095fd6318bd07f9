// A name server of the test's own, on either form of the platform: over UDP and, at the same port,
// over TCP. It knows what it was told, and misbehaves as it was told.
//
// Lifecycle: made, told, started on an executor; that is stopped before this goes. Thread: of the
// executor, except told() and what changes manners, which is for between two look-ups.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "platform/network.hpp"

namespace hummer {

class NameServerForTest {
 public:
  struct Manners {
    int unheard = 0;              // so many datagrams are lost on their way here
    bool truncates = false;       // whatever comes by datagram
    bool leaves_aliases = false;  // the asker has to follow them
    int code = 0;                 // answers with this failure
    bool damages = false;
    // What comes before the right answer.
    bool answers_other_numbers = false;
    bool answers_other_questions = false;
    DatagramSocket* stranger = nullptr;  // answers from another address, with a wrong one
    std::uint32_t nothing_kept_s = 0;    // how long it may be remembered that nothing is there
  };

  explicit NameServerForTest(Network& network, const std::string& address = "127.0.0.1:0") {
    // A port that is free for both.
    for (int tries = 0; tries < 20 && listener_ == nullptr; ++tries) {
      auto socket = network.open_datagrams(*parse_socket_address(address), nullptr);
      EXPECT_TRUE(socket.ok()) << socket.status().to_string();
      auto listener = network.listen((*socket)->local_address());
      if (!listener.ok()) continue;
      socket_ = std::move(*socket);
      listener_ = std::move(*listener);
    }
    EXPECT_NE(listener_, nullptr);
  }
  void start(Executor& executor) {
    executor.spawn(serve_datagrams(this));
    executor.spawn(serve_streams(this));
  }
  SocketAddress address() const { return socket_->local_address(); }

  void add_address(const std::string& name, const std::string& number, std::uint32_t kept_s = 60) {
    const bool ipv6 = number.find(':') != number.npos;
    const SocketAddress address =
        *parse_socket_address((ipv6 ? "[" + number + "]" : number) + ":0");
    records_[name].push_back(
        {ipv6 ? 28 : 1, std::string(address.bytes.begin(), address.bytes.begin() + (ipv6 ? 16 : 4)),
         kept_s});
  }
  void add_alias(const std::string& name, const std::string& target, std::uint32_t kept_s = 60) {
    aliases_[name] = {target, kept_s};
  }
  void remove(const std::string& name) { records_.erase(name); }

  Manners manners;

  // The questions so far: "www.example.org 1", of streams with a "tcp " before it.
  std::vector<std::string> told() {
    const std::lock_guard lock(mutex_);
    return std::exchange(told_, {});
  }

 private:
  struct Record {
    int type;
    std::string bytes;
    std::uint32_t kept_s;
  };

  static std::string number_16(std::uint32_t value) {
    return {static_cast<char>(value >> 8), static_cast<char>(value)};
  }
  static std::string number_32(std::uint32_t value) {
    return number_16(value >> 16) + number_16(value & 0xffff);
  }
  static std::string labels(const std::string& name) {
    std::string out;
    for (std::size_t begin = 0; begin < name.size();) {
      const std::size_t end = std::min(name.find('.', begin), name.size());
      out += static_cast<char>(end - begin);
      out += name.substr(begin, end - begin);
      begin = end + 1;
    }
    return out + '\0';
  }
  static std::string record(const std::string& owner, int type, std::uint32_t kept_s,
                            const std::string& bytes) {
    return owner + number_16(static_cast<std::uint32_t>(type)) + number_16(1) + number_32(kept_s) +
           number_16(static_cast<std::uint32_t>(bytes.size())) + bytes;
  }
  static std::string head(const std::string& question, std::uint32_t flags, std::uint32_t answers,
                          std::uint32_t authorities) {
    return question.substr(0, 2) + number_16(0x8180 | flags) + number_16(1) + number_16(answers) +
           number_16(authorities) + number_16(0) + question.substr(12);
  }

  std::string answer(const std::string& question, bool by_stream) {
    std::string name;
    std::size_t at = 12;
    for (; question[at] != '\0'; at += 1 + static_cast<std::size_t>(question[at])) {
      if (!name.empty()) name += '.';
      name += question.substr(at + 1, static_cast<std::size_t>(question[at]));
    }
    const int type = question[at + 2];
    {
      const std::lock_guard lock(mutex_);
      told_.push_back((by_stream ? "tcp " : "") + name + " " + std::to_string(type));
    }
    if (manners.code != 0) return head(question, static_cast<std::uint32_t>(manners.code), 0, 0);
    if (manners.truncates && !by_stream) return head(question, 0x0200, 0, 0);
    std::string records;
    std::uint32_t count = 0;
    std::string owner = "\xc0\x0c";  // where the question's name is
    bool follows = true;
    for (auto alias = aliases_.find(name); follows && alias != aliases_.end() && count < 20;
         alias = aliases_.find(name)) {
      records += record(owner, 5, alias->second.second, labels(alias->second.first));
      ++count;
      name = alias->second.first;
      owner = labels(name);
      follows = !manners.leaves_aliases;
    }
    const auto found = records_.find(name);
    if (found != records_.end() && follows) {
      for (const Record& each : found->second) {
        if (each.type != type) continue;
        records += record(owner, type, each.kept_s, each.bytes);
        ++count;
      }
    }
    if (manners.damages) records = std::string("\xc0\xff", 2) + records;
    const bool unknown = found == records_.end() && count == 0;
    if (count > 0) return head(question, 0, count, 0) + records;
    const std::string zone = labels("ns.test") + labels("admin.test") + std::string(16, '\0') +
                             number_32(manners.nothing_kept_s);
    return head(question, unknown ? 3 : 0, 0, 1) + record(labels("test"), 6, 3600, zone);
  }

  static Task<void> serve_datagrams(NameServerForTest* self) {
    std::string buffer(512, '\0');
    for (;;) {
      const auto got = co_await self->socket_->receive(buffer, never);
      if (!got.ok()) co_return;
      if (self->manners.unheard > 0) {
        --self->manners.unheard;
        continue;
      }
      const std::string question = buffer.substr(0, got->bytes);
      const std::string answer = self->answer(question, false);
      self->send_others(question, answer, got->from);
      (void)self->socket_->send(answer, got->from);
    }
  }
  void send_others(const std::string& question, std::string answer, const SocketAddress& to) {
    if (manners.stranger != nullptr) {
      const std::string wrong =
          head(question, 0, 1, 0) + record("\xc0\x0c", 1, 60, std::string("\x42\x42\x42\x42"));
      (void)manners.stranger->send(wrong, to);
    }
    if (manners.answers_other_questions) {
      std::string other = answer;
      other[13] = other[13] == 'x' ? 'y' : 'x';
      (void)socket_->send(other, to);
    }
    if (manners.answers_other_numbers) {
      answer[0] = static_cast<char>(answer[0] + 1);
      (void)socket_->send(answer, to);
    }
  }
  static Task<void> serve_streams(NameServerForTest* self) {
    for (;;) {
      auto stream = co_await self->listener_->accept();
      if (!stream.ok()) co_return;
      std::string bytes;
      std::string buffer(512, '\0');
      while (bytes.size() < 2 ||
             bytes.size() < 2 + static_cast<std::size_t>(static_cast<unsigned char>(bytes[1]))) {
        const auto got = co_await (*stream)->read_some(buffer);
        if (!got.ok() || *got == 0) break;
        bytes.append(buffer, 0, *got);
      }
      if (bytes.size() < 14) continue;
      const std::string answer = self->answer(bytes.substr(2), true);
      const std::string framed = number_16(static_cast<std::uint32_t>(answer.size())) + answer;
      (void)co_await (*stream)->write_all(framed);
    }
  }

  std::unique_ptr<DatagramSocket> socket_;
  std::unique_ptr<Listener> listener_;
  std::map<std::string, std::vector<Record>> records_;
  std::map<std::string, std::pair<std::string, std::uint32_t>> aliases_;
  std::mutex mutex_;
  std::vector<std::string> told_;
};

}  // namespace hummer
