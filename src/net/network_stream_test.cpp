// NetworkEmitter to NetworkReceiver: what goes in comes out, over every form.
#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "net/net_test_rig.hpp"
#include "net/network_emitter.hpp"
#include "net/network_receiver.hpp"

namespace hummer::network_stream_test {
namespace {

// What was sent or received: records in order, controls with the number of records before them.
template <typename T>
struct Journal {
  std::vector<T> records;
  std::vector<Timestamp> timestamps;
  std::vector<std::tuple<std::size_t, int, Timestamp, std::uint64_t>> controls;
  Status failure;
  bool ended = false;

  void note(const Control& control) {
    if (control.kind == Control::Kind::none || control.kind == Control::Kind::end) return;
    controls.emplace_back(records.size(), static_cast<int>(control.kind), control.time,
                          control.epoch);
  }
  void note(const Batch& batch) {
    for (const T& record : batch.template values<T>()) records.push_back(record);
    if (!batch.has_timestamps()) return;
    timestamps.insert(timestamps.end(), batch.timestamps().begin(), batch.timestamps().end());
  }
};

// Written by the sending task, read by the test when `done`.
struct Sending {
  std::deque<Element> elements;
  Status failure;
  std::atomic<bool> done{false};
};

// The whole life of a sender task on its slot.
Task<void> send(std::unique_ptr<TransportSender> transport, const TypeDescriptor& type,
                Sending& sending) {
  Executor& executor = co_await current_executor();
  {
    WakeEvent event;
    NetworkEmitter emitter(std::move(transport), type, "sink");
    emitter.attach(executor, event);
    std::deque<Element>& elements = sending.elements;
    while (!elements.empty()) {
      event.prepare_wait();
      const OperatorResult answer = emitter.offer(elements.front());
      if (answer == OperatorResult::blocked) {
        co_await event.wait();
        continue;
      }
      event.cancel_wait();
      if (answer == OperatorResult::failed) break;
      EXPECT_EQ(answer, OperatorResult::done);
      EXPECT_TRUE(elements.front().batch.empty());
      elements.pop_front();
      // Other tasks of the slot have their turn.
      co_await yield();
    }
    sending.failure = emitter.failure();
  }
  sending.done.store(true);
}

template <typename T>
Task<void> receive(NetworkReceiver& receiver, RigContext& context, WakeEvent& event,
                   Journal<T>& journal, const Journal<T>* expected) {
  Output out;
  receiver.set_context(context);
  receiver.declare(out);
  EXPECT_TRUE(receiver.open().ok());
  std::vector<Batch> kept;
  while (true) {
    event.prepare_wait();
    const OperatorResult answer = receiver.produce(out);
    if (answer == OperatorResult::blocked) {
      co_await event.wait();
      continue;
    }
    event.cancel_wait();
    if (!out.batch(0).empty()) {
      journal.note(out.batch(0));
      kept.push_back(std::move(out.batch(0)));
    }
    journal.note(out.take_control());
    if (answer == OperatorResult::done) journal.ended = true;
    if (answer == OperatorResult::failed) journal.failure = context.failure();
    if (answer != OperatorResult::more) break;
    co_await yield();
  }
  EXPECT_TRUE(receiver.close().ok());
  // Only now: a buffer that was filled again while a batch points into it would show.
  std::size_t at = 0;
  for (const Batch& batch : kept) {
    for (const T& record : batch.values<T>()) {
      const bool equal =
          expected == nullptr || (at < expected->records.size() && record == expected->records[at]);
      EXPECT_TRUE(equal) << "record " << at;
      ++at;
      if (!equal) co_return;
    }
  }
}

template <typename T>
Task<void> transfer(Rig& rig, NetworkSettings settings, Sending& sending, Journal<T>& received,
                    const Journal<T>* expected) {
  WakeEvent event;
  RigContext context(rig, event);
  TransportPair pair = rig.open(type_of<T>(), settings);
  NetworkReceiver receiver(std::move(pair.receiver), type_of<T>(), "source");
  rig.sending_executor().spawn(send(std::move(pair.sender), type_of<T>(), sending));
  co_await receive(receiver, context, event, received, expected);
  const bool finished = co_await eventually([&] { return sending.done.load(); });
  EXPECT_TRUE(finished) << "the sender hangs";
}

struct Reading {
  std::uint64_t number;
  std::array<char, 92> text;
  std::uint32_t tail;
  bool operator==(const Reading&) const = default;
};
static_assert(is_bitwise<Reading>);
struct Wide {
  std::array<std::uint64_t, 700> numbers;
  bool operator==(const Wide&) const = default;
};
static_assert(is_bitwise<Wide>);
struct Person {
  std::string name;
  std::vector<std::string_view> tags;
  std::optional<double> weight;
  bool operator==(const Person&) const = default;
};
struct Nothing {
  bool operator==(const Nothing&) const = default;
};

// Texts live here while they are sent.
std::string_view text_of(std::deque<std::string>& arena, std::uint64_t number, std::size_t length) {
  std::string text(length, '\0');
  for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>(mix_bits(number + i));
  return arena.emplace_back(std::move(text));
}

template <typename T>
T make_record(Random& random, std::deque<std::string>& arena, bool large) {
  const std::uint64_t number = random.next();
  const auto length = [&] { return static_cast<std::size_t>(random.below(large ? 9'000 : 60)); };
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    return number;
  } else if constexpr (std::is_same_v<T, Reading>) {
    Reading reading{number, {}, static_cast<std::uint32_t>(number)};
    reading.text.fill(static_cast<char>(number));
    return reading;
  } else if constexpr (std::is_same_v<T, Wide>) {
    Wide wide;
    wide.numbers.fill(number);
    return wide;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return text_of(arena, number, length());
  } else if constexpr (std::is_same_v<T, std::tuple<std::string_view, double>>) {
    return {text_of(arena, number, length()), static_cast<double>(number)};
  } else if constexpr (std::is_same_v<T, Person>) {
    Person person{std::string(text_of(arena, number, length())), {}, {}};
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      person.tags.push_back(text_of(arena, i, length()));
    }
    if (random.chance(0.5)) person.weight = static_cast<double>(number);
    return person;
  } else {
    return T{};
  }
}

template <typename T>
std::deque<Element> make_elements(Random& random, std::deque<std::string>& arena, bool timed,
                                  bool large, std::uint64_t crowd, Journal<T>& journal) {
  std::deque<Element> elements;
  for (int i = 0; i < 40; ++i) {
    Element element;
    // A large batch now and then; fewer of large records.
    const std::uint64_t most = i % 5 != 0 ? 20 : crowd;
    const auto records = static_cast<std::uint32_t>(random.below(most));
    if (records != 0) {
      element.batch = Batch(type_of<T>(), records);
      T* values = static_cast<T*>(element.batch.raw_mutable_values());
      for (std::uint32_t r = 0; r < records; ++r) {
        new (values + r) T(make_record<T>(random, arena, large && random.chance(0.05)));
        if (timed) element.batch.timestamps().push_back(static_cast<Timestamp>(random.next()));
      }
      element.batch.set_size(records);
      journal.note(element.batch);
    }
    switch (random.below(5)) {
      case 0: element.control = Control::watermark(i); break;
      case 1: element.control = Control::barrier(static_cast<std::uint64_t>(i)); break;
      case 2: element.control = Control::inactive(); break;
      case 3: element.control = Control::active(); break;
      default: break;
    }
    journal.note(element.control);
    elements.push_back(std::move(element));
  }
  elements.push_back({Batch(), Control::end()});
  return elements;
}

class StreamTest : public TestOfForms {
 protected:
  template <typename T>
  void check(bool timed, bool large, std::size_t buffer_size_bytes, int credits = 4,
             std::uint64_t crowd = sizeof(T) > 1000 ? 40 : 400) {
    SCOPED_TRACE(type_of<T>().name + (timed ? " timed" : "") + (large ? " large" : ""));
    Rig rig(GetParam());
    Random random(GetParam().seed + buffer_size_bytes);
    std::deque<std::string> arena;
    Journal<T> sent;
    Sending sending;
    sending.elements = make_elements<T>(random, arena, timed, large, crowd, sent);
    NetworkSettings settings;
    settings.buffer_size_bytes = buffer_size_bytes;
    settings.credits = credits;
    Journal<T> received;
    rig.run(transfer<T>(rig, settings, sending, received, &sent));
    EXPECT_TRUE(received.failure.ok()) << received.failure.to_string();
    EXPECT_TRUE(sending.failure.ok()) << sending.failure.to_string();
    EXPECT_TRUE(received.ended);
    EXPECT_TRUE(sending.elements.empty());
    EXPECT_EQ(received.records.size(), sent.records.size());
    EXPECT_EQ(received.timestamps, sent.timestamps);
    EXPECT_EQ(received.controls, sent.controls);
  }
};

TEST_P(StreamTest, Numbers) {
  check<std::uint64_t>(false, false, 1024);
  check<std::uint64_t>(true, false, 4096, 1);
  check<std::uint64_t>(false, false, 64 * 1024);
}

TEST_P(StreamTest, BitwiseStructs) {
  check<Reading>(false, false, 1024);
  check<Reading>(true, false, 4096);
}

// Batches of up to 300 KiB leave from where they lie, as much as the connection takes at once.
TEST_P(StreamTest, LargeBatchesOfBitwiseStructs) {
  for (const bool timed : {false, true}) {
    check<Reading>(timed, false, 64 * 1024, 16, 3000);
    check<Reading>(timed, false, 17 * 1024, 2, 3000);
    check<Reading>(timed, false, 256 * 1024, 1, 3000);
    check<std::uint64_t>(timed, false, 64 * 1024, 3, 30'000);
  }
}

TEST_P(StreamTest, BitwiseStructsLargerThanABuffer) {
  check<Wide>(false, false, 1024);
  check<Wide>(true, false, 2048, 1);
}

TEST_P(StreamTest, Texts) {
  check<std::string_view>(false, false, 1024);
  check<std::string_view>(true, false, 4096);
  check<std::string_view>(false, true, 2048, 1);
  check<std::string_view>(true, true, 16 * 1024);
}

TEST_P(StreamTest, TuplesAndAggregates) {
  check<std::tuple<std::string_view, double>>(true, true, 2048);
  check<Person>(false, false, 1024);
  check<Person>(true, true, 4096);
}

TEST_P(StreamTest, RecordsWithoutBytes) {
  check<Nothing>(false, false, 1024);
  check<Nothing>(true, false, 1024);
}

TEST_P(StreamTest, RecordBeyondTheLimitFailsByName) {
  Rig rig(GetParam());
  std::string text(100'000, 'x');
  Element element{Batch(type_of<std::string_view>(), 1), {}};
  new (element.batch.raw_mutable_values()) std::string_view(text);
  element.batch.set_size(1);
  TransportPair pair = rig.open(type_of<std::string_view>(), {});
  pair.sender.reset();
  WakeEvent event;
  NetworkSettings settings;
  settings.buffer_size_bytes = 1024;
  pair = make_memory_transport(settings);
  NetworkEmitter emitter(std::move(pair.sender), type_of<std::string_view>(), "sink", 50'000);
  emitter.attach(rig.executor(), event);
  EXPECT_EQ(emitter.offer(element), OperatorResult::failed);
  EXPECT_EQ(emitter.failure().code(), ErrorCode::limit_exceeded);
  EXPECT_NE(emitter.failure().message().find("sink"), std::string::npos);
}

// All of a batch comes although nothing follows it: it may be the last one for hours.
template <typename T>
Task<void> alone_script(Rig& rig, Batch& batch) {
  TransportPair pair = rig.open(type_of<T>(), {});
  WakeEvent sender_event;
  WakeEvent receiver_event;
  NetworkEmitter emitter(std::move(pair.sender), type_of<T>(), "sink");
  emitter.attach(rig.executor(), sender_event);
  pair.receiver->attach(rig.executor(), receiver_event);
  Element element{std::move(batch), {}};
  std::uint64_t came = 0;
  const auto step = [&] {
    const bool all_sent = emitter.offer(element) == OperatorResult::done;
    Received received;
    while (pair.receiver->poll(received) == Poll::bytes) {
      came += received.bytes.size();
      pair.receiver->release();
    }
    return all_sent && came == emitter.bytes_sent();
  };
  const bool all_came = co_await eventually(step);
  EXPECT_TRUE(all_came) << came << " of " << emitter.bytes_sent() << " bytes";
}

TEST_P(StreamTest, ABatchLeavesWithItsOffer) {
  std::deque<std::string> arena;
  const auto check_alone = [&]<typename T>(std::uint32_t records,
                                           T (*make)(std::deque<std::string>&)) {
    Rig rig(GetParam());
    Batch batch(type_of<T>(), records);
    T* const values = static_cast<T*>(batch.raw_mutable_values());
    for (std::uint32_t i = 0; i < records; ++i) new (values + i) T(make(arena));
    batch.set_size(records);
    rig.run(alone_script<T>(rig, batch));
  };
  using Texts = std::deque<std::string>;
  check_alone(100, +[](Texts&) { return std::uint64_t{7}; });
  check_alone(40'000, +[](Texts&) { return std::uint64_t{7}; });  // several buffers
  check_alone(100, +[](Texts& texts) { return text_of(texts, 7, 60); });
  check_alone(1, +[](Texts& texts) { return text_of(texts, 7, 300'000); });  // in pieces
}

TEST_P(StreamTest, IdleStaysHere) {
  Rig rig(GetParam());
  TransportPair pair = make_memory_transport({});
  WakeEvent event;
  NetworkEmitter emitter(std::move(pair.sender), type_of<std::uint64_t>(), "sink");
  emitter.attach(rig.executor(), event);
  Element element{Batch(), Control::idle()};
  EXPECT_EQ(emitter.offer(element), OperatorResult::done);
  EXPECT_FALSE(element.control);
  EXPECT_EQ(emitter.bytes_sent(), 0u);
}

std::deque<Element> numbered_batches(Journal<std::uint64_t>& sent) {
  std::deque<Element> elements;
  for (std::uint64_t i = 0; i < 200; ++i) {
    Element element{Batch(type_of<std::uint64_t>(), 100), Control::watermark(1)};
    for (std::uint64_t r = 0; r < 100; ++r) {
      element.batch.mutable_values<std::uint64_t>()[r] = i * 100 + r;
    }
    element.batch.set_size(100);
    sent.note(element.batch);
    elements.push_back(std::move(element));
  }
  elements.push_back({Batch(), Control::end()});
  return elements;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, StreamTest,
    testing::Values(RigOptions{Form::memory}, RigOptions{Form::tcp},
                    RigOptions{Form::memory, 1, true}, RigOptions{Form::tcp, 1, true},
                    RigOptions{Form::shm}, RigOptions{Form::shm, 1, true},
                    RigOptions{Form::simulated_shm, 1}, RigOptions{Form::simulated_shm, 2},
                    RigOptions{Form::rdma}, RigOptions{Form::simulated_rdma, 1},
                    RigOptions{Form::simulated_rdma, 2, false, WriteOrder::none},
                    RigOptions{Form::simulated_rdma, 3, false, WriteOrder::bytes},
                    RigOptions{Form::simulated_tcp, 1}, RigOptions{Form::simulated_tcp, 2},
                    RigOptions{Form::simulated_tcp, 3}),
    rig_name);

// Whatever dies: what arrived is a prefix in order, and both ends come to an end.
TEST(SimulatedStreamTest, FaultsLoseNothingSilently) {
  int failed = 0;
  int finished = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    SimulationOptions simulation;
    simulation.connection_death_rate = 0.002;
    simulation.connect_failure_rate = 0.3;
    simulation.delay_rate = 0.05;
    simulation.stream_buffer_bytes = 3000;
    Rig rig({Form::simulated_tcp, seed}, simulation);
    Journal<std::uint64_t> sent;
    Sending sending;
    sending.elements = numbered_batches(sent);
    NetworkSettings settings;
    settings.buffer_size_bytes = 2048;
    settings.credits = 3;
    Journal<std::uint64_t> received;
    rig.run(transfer<std::uint64_t>(rig, settings, sending, received, &sent));
    EXPECT_NE(received.ended, !received.failure.ok());
    EXPECT_TRUE(!received.ended || received.records.size() == sent.records.size());
    // The last credit may be lost: a sender fails then, never the other way round.
    EXPECT_TRUE(!sending.failure.ok() || received.ended);
    (received.ended ? finished : failed) += 1;
  }
  EXPECT_GT(failed, 0);
  EXPECT_GT(finished, 0);
}

}  // namespace
}  // namespace hummer::network_stream_test
