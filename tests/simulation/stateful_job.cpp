#include "simulation/stateful_job.hpp"

#include <fmt/format.h>
#include <hummer/hummer.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <sstream>
#include <vector>

namespace hummer::cluster_simulation {

struct Event {
  std::uint64_t key;
  std::uint64_t number;  // within its key
  std::uint64_t value;
  Timestamp time;
};
// A line of the accounts.
struct Entry {
  std::uint64_t key;
  std::uint64_t what;
  std::uint64_t number;  // of the record; or the time of the timer
  std::uint64_t total;
};
// A line of the groups.
struct Group {
  std::uint64_t key;
  std::int64_t start_ms;
  std::int64_t end_ms;
  std::uint64_t sum;
};
struct Account {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
};
// Of an input file.
struct Line {
  std::uint64_t key;
  std::uint64_t number;  // within all files
  std::uint64_t due_ms;
};

namespace {

// Of two or three lines.
constexpr std::size_t line_block_bytes = 64;
constexpr std::uint64_t one_record = std::uint64_t{1} << 32;

std::uint64_t drawn(const Workload& workload, std::uint64_t split, std::uint64_t index) {
  return mix_bits(workload.seed ^ mix_bits(split * 0x10001 + index * 0x9e3779b9));
}
Event event_of(const Workload& workload, std::uint64_t split, std::uint64_t index) {
  const std::uint64_t number = drawn(workload, split, index);
  const auto spread = static_cast<std::uint64_t>(workload.out_of_order_ms);
  // In a sum the upper half counts the records.
  return {split + workload.splits * (index % workload.keys_per_split),
          index / workload.keys_per_split, one_record + number % 1000,
          static_cast<std::int64_t>(index) * workload.step_ms +
              static_cast<std::int64_t>((number >> 20) % (spread + 1))};
}

class SplitSource final : public SourceFunction<Event> {
 public:
  explicit SplitSource(const Workload& workload) : workload_(workload) {}

  bool has_splits() const override { return true; }
  Status open(OperatorContext& context) override {
    context_ = &context;
    crowd_around(context);
    for (SplitId split = 0; split < workload_.splits; ++split) {
      if (context.splits()->begin(split)) positions_.try_emplace(split, 0);
    }
    return {};
  }

  OperatorResult produce(SourceOutput<Event>& out) override {
    const auto behind =
        std::min_element(positions_.begin(), positions_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (behind == positions_.end()) return OperatorResult::done;
    auto& [split, next] = *behind;
    const std::int64_t passed_ms = context_->wall_time_ms() - workload_.begins_ms;
    const auto bursts = static_cast<std::uint64_t>(
        std::max<std::int64_t>(passed_ms < 0 ? 0 : passed_ms / workload_.pause_ms + 1, 0));
    const std::uint64_t due = std::min(bursts * workload_.burst, workload_.records_per_split);
    if (next < due && out.split(split)) {
      for (; next < due && !out.full(); ++next) out.emit(event_of(workload_, split, next));
      if (next == workload_.records_per_split) {
        out.finish_split(split);
        positions_.erase(behind);
      }
      return OperatorResult::more;
    }
    const auto next_ms = static_cast<std::int64_t>(bursts) * workload_.pause_ms;
    context_->call_at(context_->now() + std::max<std::int64_t>(next_ms - passed_ms, 1) * 1'000'000);
    return OperatorResult::blocked;
  }

  Status snapshot_split(SplitId split, ByteWriter& out) override {
    out.put_value(positions_.at(split));
    return {};
  }
  Status restore_split(SplitId split, ByteReader& in) override {
    if (in.get_value(positions_[split])) return {};
    return {ErrorCode::corrupt_record, "the position of a split makes no sense"};
  }

 private:
  // Each of them has a share of the memory, as large as every other one's.
  void crowd_around(OperatorContext& context) {
    if (context.memory() == nullptr || !context.memory()->limited()) return;
    std::shared_ptr<MemoryAccount> group;
    for (std::uint64_t i = 0; i < workload_.crowd; ++i) {
      if (i % 64 == 0) group = context.memory()->make_child("crowd");
      crowd_.push_back(group->make_child("one of many"));
      crowd_.back()->set_elastic();
    }
  }

  const Workload workload_;
  std::vector<std::shared_ptr<MemoryAccount>> crowd_;
  OperatorContext* context_ = nullptr;
  std::map<SplitId, std::uint64_t> positions_;  // of those that have not ended
};

template <typename T>
void put(const T& record, const Timestamp* time, Output& out) {
  Batch& target = out.batch();
  const std::size_t used = target.size();
  out.collector<T>()(record);
  if (time == nullptr) return;
  target.timestamps().resize(used, no_timestamp);
  target.timestamps().push_back(*time);
}

// Keeps records until a barrier or the end.
template <typename T>
class Hoard final : public Operator {
 public:
  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  OperatorResult process(Batch& in, Output&) override {
    const auto records = in.values<T>();
    for (std::size_t i = in.position(); i < records.size(); ++i) {
      kept_.push_back({records[i], in.has_timestamps(),
                       in.has_timestamps() ? in.timestamps()[i] : no_timestamp});
    }
    in.advance_to(records.size());
    return OperatorResult::done;
  }
  OperatorResult flush(Output& out) override {
    for (; !kept_.empty() && !out.full(); kept_.pop_front()) {
      const Kept& first = kept_.front();
      put(first.record, first.has_time ? &first.time : nullptr, out);
    }
    return kept_.empty() ? OperatorResult::done : OperatorResult::more;
  }
  OperatorResult end(Output& out) override { return flush(out); }

 private:
  struct Kept {
    T record;
    bool has_time;
    Timestamp time;
  };
  std::deque<Kept> kept_;
};

// Passes records on; while it is shut only one now and then, so that a barrier finds it anywhere in
// a batch.
template <typename T>
class Gate final : public Operator {
 public:
  explicit Gate(const Workload& workload)
      : begins_ms_(workload.begins_ms),
        shut_ms_(workload.shut_ms),
        shut_every_ms_(workload.shut_every_ms) {}
  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  OperatorResult process(Batch& in, Output& out) override {
    const bool shut = (context().wall_time_ms() - begins_ms_) % shut_every_ms_ < shut_ms_;
    if (shut && ++refused_ % one_passes_of != 0) return OperatorResult::blocked;
    const auto records = in.values<T>();
    const std::size_t most = shut ? in.position() + 1 : records.size();
    std::size_t i = in.position();
    for (; i < most && !out.full(); ++i) {
      put(records[i], in.has_timestamps() ? &in.timestamps()[i] : nullptr, out);
    }
    in.advance_to(i);
    if (i == records.size()) return OperatorResult::done;
    return shut ? OperatorResult::blocked : OperatorResult::more;
  }

 private:
  static constexpr int one_passes_of = 8;
  const std::int64_t begins_ms_;
  const std::int64_t shut_ms_;
  const std::int64_t shut_every_ms_;
  int refused_ = 0;
};

// Passes each line on when it is due by the wall clock, so that a file is read for as long as the
// job runs; or when none has gone for as long as a subtask has for a line of its share: a barrier
// waits behind the lines in hand, and those of a later split may not be due for half the run.
class Pace final : public Operator {
 public:
  explicit Pace(const Workload& workload)
      : patience_ns_(workload.line_step_ms * parallelism_most * 1'000'000) {}
  void declare(Output& out) const override { out.add_port(type_of<Line>()); }
  OperatorResult process(Batch& in, Output& out) override {
    const auto lines = in.values<Line>();
    const auto wall_ms = static_cast<std::uint64_t>(context().wall_time_ms());
    const std::int64_t now = context().now();
    std::size_t i = in.position();
    while (i < lines.size() && !out.full() &&
           (lines[i].due_ms <= wall_ms || now - last_went_ >= patience_ns_)) {
      put(lines[i++], nullptr, out);
      last_went_ = now;
    }
    in.advance_to(i);
    if (i == lines.size()) return OperatorResult::done;
    return out.full() ? OperatorResult::more : OperatorResult::blocked;
  }

 private:
  const std::int64_t patience_ns_;
  std::int64_t last_went_ = 0;
};

template <typename T>
DataStream<T> through_gate(const DataStream<T>& stream, const std::string& name,
                           const Workload& workload, bool shuts) {
  Workload own = workload;
  if (!shuts) own.shut_ms = 0;
  DataStream<T> ahead = stream;
  if (shuts && workload.hoards != 0) {
    const auto hoard = make_operator_factory([] { return std::make_unique<Hoard<T>>(); });
    ahead = stream.template transform<T>("hoard ahead of " + name, hoard, false);
  }
  return ahead.template transform<T>(
      name, make_operator_factory([own] { return std::make_unique<Gate<T>>(own); }), false,
      encoded_values(own.to_text()));
}

std::int64_t stretch_end(std::int64_t time, std::int64_t length) {
  return time / length * length + length;
}

// Says each record with the sum so far, and by a timer how many a stretch of time had.
struct KeepAccount {
  std::int64_t timer_ms = 1;
  ValueState<Account> account{"account"};
  MapState<Timestamp, std::uint64_t> by_stretch{"by_stretch"};

  void process(const Event& event, KeyedOutput<Entry>& out) {
    Account now = account.get_or({});
    ++now.count;
    now.sum += event.value;
    account.set(now);
    const Timestamp end = stretch_end(out.time(), timer_ms);
    by_stretch.update(end, 0, [](std::uint64_t& count) { ++count; });
    out.set_event_timer(end);
    // The number is the event's: what was lost, doubled or turned round shows.
    out.emit(Entry{event.key, account_record, event.number, now.sum});
  }
  void on_timer(Timestamp end, KeyedOutput<Entry>& out) {
    out.emit(Entry{out.key<std::uint64_t>(), account_timer, static_cast<std::uint64_t>(end),
                   by_stretch.get_or(end, 0)});
    by_stretch.remove(end);
  }
};

// Says each line of a file with how many of its key there have been.
struct CountLines {
  ValueState<std::uint64_t> count{"count"};

  void process(const Line& line, KeyedOutput<Entry>& out) {
    const std::uint64_t now = count.get_or(0) + 1;
    count.set(now);
    out.emit(Entry{line.key, 0, line.number, now});
  }
};

void parse_line(std::string_view text, Collector<Line>& out) {
  Line line{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint64_t* field : {&line.key, &line.number, &line.due_ms}) {
    at = std::from_chars(at, end, *field).ptr;
    if (at != end) ++at;
  }
  out(line);
}

// Between two records of a key.
std::int64_t apart_ms(const Workload& workload) {
  return workload.step_ms * static_cast<std::int64_t>(workload.keys_per_split);
}

// Sessions, joins and hoards are for half of the workloads each, and drawn apart from what else is,
// so that the others are what they were before there were any.

// Long enough that some records share a session, short enough that it ends.
std::int64_t draw_gap_ms(const Workload& workload) {
  const std::uint64_t drawn = mix_bits(workload.seed ^ 0x5e551035);
  if (drawn % 2 == 0) return 0;
  const auto percent = static_cast<std::int64_t>(30 + drawn / 2 % 170);
  return std::max<std::int64_t>(1, apart_ms(workload) * percent / 100);
}
// A few pairs per record.
std::int64_t draw_pair_ms(const Workload& workload) {
  const std::uint64_t drawn = mix_bits(workload.seed ^ 0x9a125);
  if (drawn % 2 == 0) return 0;
  const auto percent = static_cast<std::int64_t>(20 + drawn / 2 % 280);
  return std::max<std::int64_t>(1, apart_ms(workload) * percent / 100);
}

void draw_groups(Workload& workload) {
  const std::uint64_t drawn = mix_bits(workload.seed ^ 0x6209b5);
  if (drawn % 2 == 0) return;
  workload.groups = 1 + drawn / 2 % 2;
  const auto percent = static_cast<std::int64_t>(30 + drawn / 4 % 300);
  workload.group_gap_ms = std::max<std::int64_t>(1, apart_ms(workload) * percent / 100);
}

bool is_odd(const Event& event) { return event.value % 2 == 1; }

// What a group of a window adds up to: of all, and three times of the odd ones.
constexpr std::uint64_t odd_counts = 3;
Group group_of(TimeWindow window, std::span<const Event> all, std::span<const Event> odd) {
  Group group{all.front().key, window.start_ms, window.end_ms, 0};
  for (const Event& event : all) group.sum += event.value;
  for (const Event& event : odd) group.sum += odd_counts * event.value;
  return group;
}
template <typename Windows>
DataStream<Group> groups_over(const DataStream<Event>& events, const Windows& windows) {
  return events.key_by(&Event::key)
      .co_group(events.filter(is_odd).key_by(&Event::key))
      .window(windows)
      .apply([](TimeWindow window, std::span<const Event> all, std::span<const Event> odd,
                KeyedOutput<Group>& out) { out.emit(group_of(window, all, odd)); });
}

}  // namespace

std::string Workload::to_text() const {
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", seed, splits,
      keys_per_split, records_per_split, burst, pause_ms, begins_ms, step_ms, out_of_order_ms,
      window_ms, slide_ms, timer_ms, late_merge, shut_ms, shut_every_ms, shuts_accounts, gap_ms,
      pair_ms, hoards, lines, line_keys, file_split_bytes, line_step_ms, crowd, groups,
      group_gap_ms);
}

Workload Workload::from_text(const std::string& text) {
  Workload workload;
  std::istringstream in(text);
  char comma = 0;
  in >> workload.seed >> comma >> workload.splits >> comma >> workload.keys_per_split >> comma >>
      workload.records_per_split >> comma >> workload.burst >> comma >> workload.pause_ms >>
      comma >> workload.begins_ms >> comma >> workload.step_ms >> comma >>
      workload.out_of_order_ms >> comma >> workload.window_ms >> comma >> workload.slide_ms >>
      comma >> workload.timer_ms >> comma >> workload.late_merge >> comma >> workload.shut_ms >>
      comma >> workload.shut_every_ms >> comma >> workload.shuts_accounts >> comma >>
      workload.gap_ms >> comma >> workload.pair_ms >> comma >> workload.hoards >> comma >>
      workload.lines >> comma >> workload.line_keys >> comma >> workload.file_split_bytes >>
      comma >> workload.line_step_ms >> comma >> workload.crowd >> comma >> workload.groups >>
      comma >> workload.group_gap_ms;
  return workload;
}

Workload draw_workload(Random& random, std::int64_t begins_ms, std::int64_t lasts_s) {
  Workload workload;
  workload.seed = random.next();
  workload.splits = 2 + random.below(4);
  workload.keys_per_split = std::array<std::uint64_t, 4>{3, 13, 101, 211}[random.below(4)];
  workload.records_per_split = (10'000 + random.below(1000)) / workload.splits + 1;
  workload.pause_ms = random.between(300, 1500);
  const std::int64_t bursts = lasts_s * 1000 / workload.pause_ms;
  workload.burst = workload.records_per_split / static_cast<std::uint64_t>(bursts) + 1;
  workload.begins_ms = begins_ms;
  workload.step_ms =
      std::max<std::int64_t>(1, workload.pause_ms / static_cast<std::int64_t>(workload.burst));
  workload.out_of_order_ms = random.between(0, 2000);
  workload.slide_ms = random.between(1000, 5000);
  workload.window_ms = workload.slide_ms * random.between(1, 2);
  workload.timer_ms = random.between(1000, 5000);
  workload.late_merge = random.below(2);
  workload.shut_every_ms = random.between(500, 2500);
  workload.shut_ms = random.chance(0.7) ? random.between(50, workload.shut_every_ms / 4) : 0;
  workload.gap_ms = draw_gap_ms(workload);
  workload.pair_ms = draw_pair_ms(workload);
  workload.hoards = mix_bits(workload.seed ^ 0x40a2d5) % 2;
  draw_groups(workload);
  return workload;
}

// Sooner than a gate opens, or not.
std::int64_t draw_alignment_timeout_ms(std::uint64_t seed) {
  const std::uint64_t drawn = mix_bits(seed ^ 0xa116ed);
  return drawn % 2 == 0 ? 0 : std::int64_t{1} << drawn / 2 % 9;
}

void build_stateful_job(StreamExecutionEnvironment& env, const Workload& workload,
                        const std::string& output) {
  const auto events =
      env.from_source<Event>("splits", make_operator_factory([workload] {
                               return std::make_unique<SourceFunctionOperator<Event>>(
                                   std::make_unique<SplitSource>(workload));
                             }),
                             true, encoded_values(workload.to_text()))
          .assign_timestamps(&Event::time, WatermarkStrategy::bounded(workload.out_of_order_ms));
  const auto windows = events.key_by(&Event::key)
                           .window(SlidingWindows::of(workload.window_ms, workload.slide_ms))
                           .strategy(workload.late_merge != 0 ? WindowStrategy::late_merge
                                                              : WindowStrategy::repartition)
                           .sum(&Event::value);
  through_gate(windows, "gate of windows", workload, true).write_file(output + "/windows");
  if (workload.gap_ms > 0) {
    const auto sessions = events.key_by(&Event::key)
                              .window(SessionWindows::with_gap(workload.gap_ms))
                              .sum(&Event::value);
    through_gate(sessions, "gate of sessions", workload, true).write_file(output + "/sessions");
  }
  if (workload.pair_ms > 0) {
    const auto pairs = events.key_by(&Event::key)
                           .interval_join(events.filter(is_odd).key_by(&Event::key))
                           .between(-workload.pair_ms, workload.pair_ms)
                           .apply([](const Event& one, const Event& odd) {
                             return Entry{one.key, one.number, odd.number, one.value + odd.value};
                           });
    through_gate(pairs, "gate of pairs", workload, true).write_file(output + "/pairs");
  }
  if (workload.groups > 0) {
    const auto groups =
        workload.groups == 1
            ? groups_over(events, SlidingWindows::of(workload.window_ms, workload.slide_ms))
            : groups_over(events, SessionWindows::with_gap(workload.group_gap_ms));
    through_gate(groups, "gate of groups", workload, true).write_file(output + "/groups");
  }
  const auto accounts =
      events.key_by(&Event::key)
          .process(rebuildable(KeepAccount{.timer_ms = workload.timer_ms}, workload.timer_ms));
  through_gate(accounts, "gate of accounts", workload, workload.shuts_accounts != 0)
      .write_file(output + "/accounts");
  if (workload.lines > 0) {
    const FileSourceOptions cut{.split_size_bytes = workload.file_split_bytes,
                                .block_size_bytes = line_block_bytes};
    env.from_file(input_directory, cut)
        .flat_map(parse_line)
        .transform<Line>(
            "pace", make_operator_factory([workload] { return std::make_unique<Pace>(workload); }),
            false, encoded_values(std::uint64_t{0}))
        .key_by(&Line::key)
        .process(rebuildable(CountLines{}, std::uint64_t{0}))
        .write_file(output + "/lines");
  }
}

void add_input_files(Workload& workload, Random& random, std::int64_t lasts_s) {
  workload.lines = 900 + random.below(1200);
  workload.line_keys = 1 + random.below(40);
  workload.file_split_bytes = 64 + random.below(std::uint64_t{1} << random.between(9, 15));
  workload.line_step_ms = lasts_s * 1000 / static_cast<std::int64_t>(workload.lines);
}

namespace {

// The first of a file, by the files' numbers: of different sizes, one of them may be empty.
std::uint64_t file_begin(const Workload& workload, std::uint64_t file) {
  const std::uint64_t cuts[] = {0, workload.seed % (workload.lines / 2),
                                workload.lines / 2 + workload.seed / 7 % (workload.lines / 2),
                                workload.lines};
  return cuts[std::min<std::uint64_t>(file, 3)];
}

std::uint64_t key_of_line(const Workload& workload, std::uint64_t number) {
  return mix_bits(workload.seed ^ (number * 0x51ed)) % workload.line_keys;
}

}  // namespace

std::vector<InputText> input_files(const Workload& workload) {
  std::vector<InputText> files;
  for (std::uint64_t file = 0; workload.lines > 0 && file < 3; ++file) {
    InputText& one = files.emplace_back();
    one.path = fmt::format("{}/part-{}.txt", input_directory, file);
    for (std::uint64_t number = file_begin(workload, file); number < file_begin(workload, file + 1);
         ++number) {
      one.splits[number] = file << 32 | one.text.size() / workload.file_split_bytes;
      one.text += fmt::format(
          "{} {} {}\n", key_of_line(workload, number), number,
          workload.begins_ms + static_cast<std::int64_t>(number) * workload.line_step_ms);
    }
  }
  return files;
}

void stateful_job(StreamExecutionEnvironment& env) {
  build_stateful_job(env, Workload::from_text(env.argument("workload")), env.argument("output"));
  env.execute("accounts");
}

namespace {

using SumsByTime = std::map<std::uint64_t, std::map<std::int64_t, std::uint64_t>>;  // by key

std::map<ExpectedOutput::Window, std::uint64_t> sums_of_sessions(const SumsByTime& by_time,
                                                                 std::int64_t gap_ms) {
  std::map<ExpectedOutput::Window, std::uint64_t> sessions;
  for (const auto& [key, values] : by_time) {
    auto at = values.begin();
    while (at != values.end()) {
      const std::int64_t start = at->first;
      std::int64_t end = start;
      std::uint64_t sum = 0;
      for (; at != values.end() && (sum == 0 || at->first < end); ++at) {
        end = at->first + gap_ms;
        sum += at->second;
      }
      sessions[{key, start, end}] = sum;
    }
  }
  return sessions;
}

}  // namespace

ExpectedOutput expected_output(const Workload& workload) {
  ExpectedOutput expected;
  SumsByTime by_time;
  SumsByTime grouped_by_time;
  std::map<std::uint64_t, std::vector<Event>> of_key;
  for (std::uint64_t split = 0; split < workload.splits; ++split) {
    for (std::uint64_t index = 0; index < workload.records_per_split; ++index) {
      const Event event = event_of(workload, split, index);
      const std::int64_t time = event.time;
      if (workload.gap_ms > 0) by_time[event.key][time] += event.value;
      const std::uint64_t in_group = event.value * (is_odd(event) ? 1 + odd_counts : 1);
      if (workload.groups == 2) grouped_by_time[event.key][time] += in_group;
      if (workload.pair_ms > 0) of_key[event.key].push_back(event);
      for (std::int64_t start = time / workload.slide_ms * workload.slide_ms;
           start > time - workload.window_ms; start -= workload.slide_ms) {
        expected.windows[{event.key, start, start + workload.window_ms}] += event.value;
        if (workload.groups == 1) {
          expected.groups[{event.key, start, start + workload.window_ms}] += in_group;
        }
      }
      ExpectedOutput::Account& account = expected.accounts[event.key];
      account.sums.push_back((account.sums.empty() ? 0 : account.sums.back()) + event.value);
      ++account.timers[stretch_end(time, workload.timer_ms)];
    }
  }
  for (std::uint64_t number = 0; number < workload.lines; ++number) {
    ++expected.lines[key_of_line(workload, number)];
  }
  expected.sessions = sums_of_sessions(by_time, workload.gap_ms);
  if (workload.groups == 2) {
    expected.groups = sums_of_sessions(grouped_by_time, workload.group_gap_ms);
  }
  for (const auto& [key, events] : of_key) {
    // By their numbers, so nearly by their times.
    const auto reach = static_cast<std::size_t>(
        (workload.pair_ms + workload.out_of_order_ms) / apart_ms(workload) + 1);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const std::size_t end = std::min(i + reach + 1, events.size());
      for (std::size_t j = i - std::min(i, reach); j < end; ++j) {
        if (!is_odd(events[j]) || std::abs(events[i].time - events[j].time) > workload.pair_ms) {
          continue;
        }
        expected.pairs[{key, events[i].number, events[j].number}] =
            events[i].value + events[j].value;
      }
    }
  }
  return expected;
}

}  // namespace hummer::cluster_simulation
