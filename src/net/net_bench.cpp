// net_bench: records from a sender task to a receiver task, by each way that a channel has between
// two processes, each beside a plain program that does the same.
//
//   hummer_net_net_bench [--forms FORM,...] [--records BYTES,...] [--sizes KIB,...] [--rounds N]
//                        [--megabytes N | --milliseconds N] [--latency TRIPS] [--batch RECORDS]
//                        [--json]
//
//   form      beside it
//   threads   a plain program of blocking sockets; both in two threads of one process, by TCP
//   tcp       the same in two processes
//   tls       the same plain program; needs HUMMER_TLS_CA, _CERTIFICATE and _KEY (files)
//   ring      a plain ring in shared memory with as many slots, which its loops write and read in
//             place
//   rdma      a bare loop over libfabric, which both do one-sided writes with, by its provider tcp
//
// Default: threads, tcp, ring, and tls where there are certificates; records of 100 bytes, buffers
// of 64 KiB, 3 rounds of 2000 MB. With --milliseconds each run has as many records as the plain
// program carries in that time.
//
// In all programs the producer writes every byte of each record and the consumer sums every word,
// in an order that counts; a sum that is not the expected one ends the program. Of ring and rdma
// both sides wait without sleeping, in all programs. Rounds alternate between the two programs, and
// the ratio is the median of the rounds'. Processor time per record, of both sides together, is
// less disturbed by a busy machine than throughput is.
//
// --latency: then so many times one record goes to and fro, and a full buffer does (at large sizes
// fewer times); half of the way there and back, in microseconds, with the writing and the summing.
//
// --json: a line with an object per form, size of records and size of buffers. Exit code 77: a form
// is not to be had here.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/block.hpp"
#include "net/frame.hpp"
#include "net/net_channel_bench.hpp"
#include "net/net_pair_bench.hpp"
#include "net/net_plain_bench.hpp"
#include "net/net_records_bench.hpp"
#include "net/net_results_bench.hpp"
#include "net/net_settings_bench.hpp"
#ifdef HUMMER_WITH_LIBFABRIC
#include "net/net_fabric_bench.hpp"
#endif

namespace hummer::net_bench {
namespace {

enum class Plain { socket, ring, fabric };

struct Form {
  const char* name;
  Plain plain;
  Channel channel;
  bool processes = true;
};

const std::vector<Form>& all_forms() {
  static const std::vector<Form> forms{
      {"threads", Plain::socket, {.transport = Transport::tcp}, false},
      {"tcp", Plain::socket, {.transport = Transport::tcp}},
      {"tls", Plain::socket, {.transport = Transport::tcp, .with_tls = true}},
      {"ring", Plain::ring, {.transport = Transport::shm, .spins = true}},
      {"rdma", Plain::fabric, {.transport = Transport::rdma, .spins = true}},
  };
  return forms;
}

// --- one run

template <typename Records>
void run_plain_side(const Form& form, const PlainRings* rings, Meeting& meeting, bool is_first,
                    const Work& work, Report& report) {
  if (form.plain == Plain::socket) {
    PlainSocket end(meeting, is_first, work);
    run_plain<Records>(end, meeting, is_first, work, report);
  } else if (form.plain == Plain::ring) {
    PlainRingEnd end(*rings, is_first);
    run_plain<Records>(end, meeting, is_first, work, report);
  } else {
#ifdef HUMMER_WITH_LIBFABRIC
    FabricLoopEnd end(meeting, is_first, work);
    run_plain<Records>(end, meeting, is_first, work, report);
#endif
  }
}

template <typename Records>
void check(const Pair& pair, const Work& work) {
  static std::map<std::uint64_t, std::uint64_t> expected;
  const bool to_and_fro = work.trips_of_one > 0;
  const std::uint64_t records = to_and_fro ? work.records_to_and_fro() : work.records;
  if (!expected.contains(records)) expected[records] = Records::expected_sum(records);
  for (std::size_t side = 0; side < (to_and_fro ? 2 : 1); ++side) {
    const Report& report = pair.report(side);
    HUMMER_ASSERT(report.records == records && report.sum == expected[records]);
  }
}

template <typename Records>
void run(Pair& pair, const Form& form, bool is_hummer, const Work& work) {
  const bool needs_rings = !is_hummer && form.plain == Plain::ring;
  const auto rings = needs_rings ? std::make_unique<PlainRings>(work.buffer_bytes) : nullptr;
  const auto side = [&](bool is_first) {
    return [&, is_first](Meeting& meeting, Report& report) {
      if (is_hummer) {
        run_channel<Records>(form.channel, meeting, is_first, work, report);
      } else {
        run_plain_side<Records>(form, rings.get(), meeting, is_first, work, report);
      }
    };
  };
  pair.run(form.processes, side(true), side(false));
  check<Records>(pair, work);
}

// --- its rounds

void add_stream(const Pair& pair, const Form& form, const Work& work, Program& program) {
  const auto records = static_cast<double>(work.records);
  program.records_per_second.push_back(records / pair.report(0).seconds);
  const double processor =
      pair.report(0).processor_seconds + (form.processes ? pair.report(1).processor_seconds : 0);
  program.nanoseconds_per_record.push_back(1e9 * processor / records);
}

void add_trips(const RoundTrips& trips, std::vector<double>& one_way) {
  for (std::size_t i = 0; i < trips.count; ++i) one_way.push_back(trips.seconds[i] * 1e6 / 2);
}

template <typename Records>
Measured measure(const Form& form, std::size_t buffer_bytes, const Settings& settings) {
  Pair pair;
  Work work;
  work.buffer_bytes = buffer_bytes;
  work.batch_records = settings.batch_records;
  work.records = std::max<std::uint64_t>(settings.megabytes * 1'000'000 / Records::bytes, 1);
  if (settings.milliseconds > 0) {
    work.records = 128'000'000 / Records::bytes;
    run<Records>(pair, form, false, work);
    const double each = pair.report(0).seconds / static_cast<double>(work.records);
    work.records = static_cast<std::uint64_t>(1e-3 * settings.milliseconds / each) + 1;
  }
  Work trips;
  trips.buffer_bytes = buffer_bytes;
  trips.trips_of_one = settings.trips;
  constexpr std::uint64_t many_bytes = 128 << 20, few_trips = 100;
  trips.trips_of_full = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      settings.trips, std::max<std::uint64_t>(many_bytes / buffer_bytes, few_trips)));
  trips.records_in_full = (buffer_bytes - frame_header_bytes - block_header_bytes) / Records::bytes;

  Measured measured;
  measured.records = work.records;
  for (int round = 0; round < settings.rounds; ++round) {
    // Who is first takes turns, too.
    for (const bool is_hummer : {round % 2 != 0, round % 2 == 0}) {
      Program& program = is_hummer ? measured.hummer : measured.plain;
      run<Records>(pair, form, is_hummer, work);
      add_stream(pair, form, work, program);
      if (settings.trips == 0) continue;
      run<Records>(pair, form, is_hummer, trips);
      add_trips(pair.report(0).one, program.one_us);
      add_trips(pair.report(0).full, program.full_us);
    }
    measured.ratios.push_back(measured.hummer.records_per_second.back() /
                              measured.plain.records_per_second.back());
  }
  return measured;
}

// --- the program

int run_all(int argument_count, char** arguments) {
  Settings settings;
  if (tls_options().enabled()) settings.forms.push_back("tls");
  if (!read_settings(argument_count, arguments, settings)) {
    std::fprintf(stderr, "net_bench: unknown or senseless arguments (see net_bench.cpp)\n");
    return 2;
  }
  std::vector<Form> forms;
  for (const std::string& name : settings.forms) {
    const auto& all = all_forms();
    const auto form =
        std::find_if(all.begin(), all.end(), [&](const Form& each) { return each.name == name; });
    if (form == all.end()) {
      std::fprintf(stderr, "net_bench: there is no form %s\n", name.c_str());
      return 2;
    }
#ifndef HUMMER_WITH_LIBFABRIC
    if (form->plain == Plain::fabric) {
      std::fprintf(stderr, "net_bench: built without libfabric (apt-get install libfabric-dev)\n");
      return 77;
    }
#endif
    forms.push_back(*form);
  }
  if (!settings.json) print_heads(settings.trips > 0);
  for (const std::size_t kib : settings.buffer_kib) {
    for (const std::size_t bytes : settings.record_bytes) {
      for (const Form& form : forms) {
        const Measured measured = bytes == 16 ? measure<Records<16>>(form, kib * 1024, settings)
                                              : measure<Records<100>>(form, kib * 1024, settings);
        if (settings.json) {
          print_object(form.name, bytes, kib, measured);
        } else {
          print_row(form.name, bytes, kib, measured);
        }
        std::fflush(stdout);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace hummer::net_bench

int main(int argument_count, char** arguments) {
  return hummer::net_bench::run_all(argument_count, arguments);
}
