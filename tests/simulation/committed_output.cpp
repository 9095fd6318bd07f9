#include "simulation/committed_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include <hummer/detail/key_hash.hpp>

namespace hummer::cluster_simulation {
namespace {

constexpr std::size_t violations_maximum = 5;

bool is_visible(std::string_view path) {
  return path.substr(path.rfind('/') + 1).substr(0, 1) != ".";
}

// "part-<subtask>-<epoch>-<id of the sink>"
std::uint64_t epoch_of(std::string_view path) {
  constexpr std::string_view ahead = "part-00000-";
  std::uint64_t epoch = 0;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::string_view digits = name.substr(std::min(name.size(), ahead.size()));
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), epoch);
  return epoch;
}

using Line = std::array<std::int64_t, 4>;
bool parse_line(std::string_view text, Line& line) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i > 0 && (at == end || *at++ != '\t')) return false;
    const auto [next, error] = std::from_chars(at, end, line[i]);
    if (error != std::errc()) return false;
    at = next;
  }
  return at == end;
}

class Comparison {
 public:
  explicit Comparison(const Workload& workload)
      : expected_(expected_output(workload)), order_kept_(workload.order_kept) {
    for (const InputText& file : input_files(workload)) {
      split_of_line_.insert(file.splits.begin(), file.splits.end());
    }
  }

  void line(std::string_view path, std::string_view text) {
    Line parsed;
    if (!parse_line(text, parsed)) {
      wrong(fmt::format("{} holds a line that no sink wrote: '{}'", path, text.substr(0, 80)));
    } else if (path.starts_with("windows/")) {
      window(parsed, windows_);
    } else if (path.starts_with("sessions/")) {
      window(parsed, sessions_);
    } else if (path.starts_with("groups/")) {
      window(parsed, groups_);
    } else if (path.starts_with("pairs/")) {
      window(parsed, pairs_);
    } else if (path.starts_with("lines/")) {
      line_of_file(parsed);
    } else {
      account(path, parsed);
    }
  }

  void end() {
    for (const auto& [key, account] : expected_.accounts) {
      const Progress& got = progress_[key];
      if (got.records != account.sums.size()) {
        wrong(fmt::format("key {}: {} of {} records", key, got.records, account.sums.size()));
      }
      if (got.timers != account.timers.size()) {
        wrong(fmt::format("key {}: {} of {} timers", key, got.timers, account.timers.size()));
      }
    }
    for (const auto& [key, count] : expected_.lines) {
      const std::uint64_t got = lines_of_key_[key];
      if (got != count) wrong(fmt::format("key {}: {} of {} lines", key, got, count));
    }
    for (const Windows* windows : {&windows_, &sessions_, &groups_, &pairs_}) {
      for (const auto& [window, sum] : windows->expected) {
        if (windows->seen.contains(window)) continue;
        wrong(fmt::format("the {} [{}, {}) of key {} is missing", windows->what,
                          std::get<1>(window), std::get<2>(window), std::get<0>(window)));
      }
    }
  }

  void wrong(std::string text) {
    if (violations_.size() < violations_maximum) violations_.push_back(std::move(text));
  }

  std::vector<std::string> violations() && { return std::move(violations_); }
  std::uint64_t records() const { return records_; }

 private:
  struct Progress {
    std::uint64_t records = 0;
    std::uint64_t timers = 0;
    std::int64_t last_timer = INT64_MIN;
  };
  // Or pairs, of two numbers instead of two times.
  struct Windows {
    std::string_view what;
    const std::map<ExpectedOutput::Window, std::uint64_t>& expected;
    std::set<ExpectedOutput::Window> seen = {};
    std::map<std::uint64_t, std::int64_t> last_end = {};  // by key
  };

  void window(const Line& line, Windows& windows) {
    const ExpectedOutput::Window window{static_cast<std::uint64_t>(line[0]), line[1], line[2]};
    const auto expected = windows.expected.find(window);
    const auto text = [&] {
      return fmt::format("{} [{}, {}) of key {}", windows.what, line[1], line[2], line[0]);
    };
    if (expected == windows.expected.end()) {
      wrong("there is no " + text());
    } else if (expected->second != static_cast<std::uint64_t>(line[3])) {
      wrong(fmt::format("{} is {} records and {}, not {} and {}", text(), line[3] >> 32,
                        line[3] & 0xffffffff, expected->second >> 32,
                        expected->second & 0xffffffff));
    }
    if (!windows.seen.insert(window).second) wrong(text() + " came twice");
    if (!order_kept_ || &windows == &pairs_) return;
    std::int64_t& last = windows.last_end.try_emplace(std::get<0>(window), INT64_MIN).first->second;
    if (line[2] < last) wrong(fmt::format("{} came after one that ends at {}", text(), last));
    last = std::max(last, line[2]);
  }

  // Each once, and those of a key and split in the order of the file; the count is the state's.
  void line_of_file(const Line& line) {
    const auto key = static_cast<std::uint64_t>(line[0]);
    const auto number = static_cast<std::uint64_t>(line[2]);
    const auto split = split_of_line_.find(number);
    if (split == split_of_line_.end()) return wrong(fmt::format("there is no line {}", number));
    if (!seen_lines_.insert(number).second) wrong(fmt::format("line {} came twice", number));
    const std::uint64_t there = ++lines_of_key_[key];
    const auto count = static_cast<std::uint64_t>(line[3]);
    if (!counts_.insert({key, count}).second || count > expected_.lines.at(key) ||
        (order_kept_ && count != there)) {
      wrong(fmt::format("key {}: line {} is counted as number {}, and is number {}", key, number,
                        count, there));
    }
    if (!order_kept_) return;
    std::uint64_t& last = last_lines_[{key, split->second}];
    if (number < last) {
      wrong(fmt::format("key {}: line {} came after {} of the same split", key, number, last));
    }
    last = std::max(last, number);
  }

  void account(std::string_view path, const Line& line) {
    const auto key = static_cast<std::uint64_t>(line[0]);
    const auto found = expected_.accounts.find(key);
    if (found == expected_.accounts.end()) return wrong(fmt::format("there is no key {}", key));
    const ExpectedOutput::Account& expected = found->second;
    Progress& got = progress_[key];
    const auto total = static_cast<std::uint64_t>(line[3]);
    if (line[1] == static_cast<std::int64_t>(account_timer)) {
      if (std::exchange(file_, path) != path) last_timer_ = INT64_MIN;
      if (line[2] < last_timer_) {
        wrong(fmt::format("{}: timer {} of key {} came after {}", path, line[2], key, last_timer_));
      }
      last_timer_ = line[2];
      if (line[2] <= got.last_timer) {
        wrong(fmt::format("key {}: timer {} came after {}", key, line[2], got.last_timer));
      }
      got.last_timer = line[2];
      ++got.timers;
      const auto timer = expected.timers.find(line[2]);
      if (timer == expected.timers.end() || timer->second != total) {
        wrong(fmt::format("key {}: timer {} tells {} records, not {}", key, line[2], total,
                          timer == expected.timers.end() ? 0 : timer->second));
      }
      return;
    }
    const auto number = static_cast<std::uint64_t>(line[2]);
    if (number != got.records) {
      wrong(fmt::format("key {}: record {} came where {} was to come", key, number, got.records));
      got.records = number;
    }
    if (number >= expected.sums.size()) {
      return wrong(fmt::format("key {} has no record {}", key, number));
    }
    if (expected.sums[number] != total) {
      wrong(fmt::format("key {}: the sum at record {} is of {} records", key, number, total >> 32));
    }
    ++got.records;
    ++records_;
  }

  const ExpectedOutput expected_;
  const bool order_kept_;
  std::map<std::uint64_t, std::uint64_t> split_of_line_;
  std::set<std::uint64_t> seen_lines_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> counts_;  // by key
  std::map<std::uint64_t, std::uint64_t> lines_of_key_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> last_lines_;  // by key and split
  std::map<std::uint64_t, Progress> progress_;
  Windows windows_{"window", expected_.windows};
  Windows sessions_{"session", expected_.sessions};
  Windows groups_{"group", expected_.groups};
  Windows pairs_{"pair", expected_.pairs};
  std::string_view file_;  // the last one with a timer, and that
  std::int64_t last_timer_ = INT64_MIN;
  std::uint64_t records_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace

std::string CommittedOutput::look(const SimulatedPlatform& node, const std::string& directory,
                                  Look how) {
  // Both are in order of the paths.
  auto at = seen_.begin();
  std::string gone;
  const auto pass = [&] {
    if (!at->second.taken_back && gone.empty()) gone = at->first + ", which was visible, is gone";
    ++at;
  };
  for (const auto& [path, content] : node.files_below(directory)) {
    if (!is_visible(path)) continue;
    while (at != seen_.end() && at->first < path) pass();
    if (at == seen_.end() || at->first != path) {
      const Seen seen{content.size(), hash_bytes(content.data(), content.size())};
      at = std::next(seen_.emplace_hint(at, path, seen));
      continue;
    }
    Seen& seen = (at++)->second;
    if (seen.size_bytes != content.size() ||
        ((how == Look::bytes || seen.taken_back) &&
         seen.hash != hash_bytes(content.data(), content.size()))) {
      return fmt::format("{}, which was visible with {} bytes, has others ({} bytes)", path,
                         seen.size_bytes, content.size());
    }
    seen.taken_back = false;
  }
  while (at != seen_.end()) pass();
  return gone;
}

std::string CommittedOutput::look_after_power_cut(const SimulatedPlatform& node,
                                                  const std::string& directory) {
  std::set<std::string_view> there;
  for (const auto& [path, content] : node.files_below(directory)) there.insert(path);
  bool one = false;
  for (auto& [path, seen] : seen_) {
    if (seen.taken_back || there.contains(path)) continue;
    if (std::exchange(one, true)) break;
    seen.taken_back = true;
  }
  return look(node, directory, Look::bytes);
}

std::vector<std::string> CommittedOutput::check_end(const SimulatedPlatform& node,
                                                    const std::string& directory,
                                                    const Workload& workload) {
  Comparison comparison(workload);
  auto files = node.files_below(directory);
  std::erase_if(files, [](const auto& file) { return !is_visible(file.first); });
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return epoch_of(a.first) < epoch_of(b.first);
  });
  for (const auto& [path, content] : files) {
    for (std::string_view text = content; !text.empty();) {
      const std::size_t end = text.find('\n');
      if (end == text.npos) {
        comparison.wrong(fmt::format("{} ends within a line", path));
        break;
      }
      comparison.line(path, text.substr(0, end));
      text.remove_prefix(end + 1);
    }
  }
  comparison.end();
  records_checked_ = comparison.records();
  return std::move(comparison).violations();
}

}  // namespace hummer::cluster_simulation
