// HarnessRun: one run of one operator under one schedule (see
// <hummer/testing/operator_harness.hpp>). Plays the chain driver: calls, takes
// output, keeps buffers, releases input, and watches the contract.
//
// Lifecycle: one object per run; the first violation ends the run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <hummer/detail/testing/harness_case.hpp>

namespace hummer {

struct HarnessSchedule {
  enum class Between { nothing, idle, flush, snapshot, flush_and_snapshot, snapshots_in_steps };
  static constexpr std::size_t everywhere = SIZE_MAX;

  std::uint32_t soft_limit = default_batch_records;
  bool one_record_per_batch = false;
  std::size_t split_at = 0;        // elements; 0: no split
  bool output_after_more = false;  // else after every call
  bool shared_input = false;
  bool pauses = false;
  Between between = Between::nothing;
  std::size_t between_at = everywhere;  // elements, or calls of a source

  bool interrupts(std::size_t position) const {
    return between != Between::nothing && (between_at == everywhere || between_at == position);
  }
  std::string describe() const;
};

class HarnessRun {
 public:
  HarnessRun(const HarnessCase& test, const HarnessSchedule& schedule, std::size_t expansion_max);

  // Empty, or what went wrong first.
  std::string run_operator();
  std::string run_source();
  // The most records that one call of process put out.
  std::size_t largest_expansion() const { return largest_expansion_; }

 private:
  using Call = std::function<OperatorResult()>;

  void start(const std::vector<std::string>& pieces);
  std::size_t run_element(std::size_t element);
  bool stopped() const { return failed_ || !violation_.empty(); }
  void violate(std::string what);
  void fail(const Batch* in, const std::string& what, bool thrown);
  void drive(const char* name, Batch* in, const Call& call);
  void check_call(const char* name, const Batch* in, std::uint32_t position_before,
                  const std::vector<std::size_t>& sizes_before, OperatorResult answer);
  void interrupt();
  void snapshot_and_restore();
  void begin_snapshot();
  void step_snapshot();
  void finish_snapshot();
  void restore_after_running_ahead(std::size_t element);
  void fire_timer();
  std::size_t process_from(std::size_t element);
  Batch make_batch(std::size_t first, std::size_t count, BufferRef& text) const;
  void spoil(Batch& in, const BufferRef& text);
  void check_unchanged(const Batch& shared, std::size_t first);
  void watermark(Timestamp time);
  void take_output();
  void check_output();
  void add_watermark(Timestamp time);
  void finish();
  void compare_port(std::size_t port);
  void compare_effects();

  const HarnessCase& test_;
  const HarnessSchedule& schedule_;
  const std::size_t expansion_max_;
  FakeOperatorContext context_;
  Output output_;
  std::unique_ptr<Operator> operator_;

  struct Taken {
    std::size_t port;
    Batch batch;
  };
  std::vector<Taken> taken_;
  std::vector<std::string> pieces_;  // a whole one, and deltas on it
  std::string part_;                 // of the next
  bool snapshot_under_way_ = false;
  std::vector<std::vector<HarnessItem>> seen_;  // per port
  std::vector<BufferRef> released_;             // input text, spoiled once nobody keeps it
  Timestamp watermark_ = no_timestamp;          // forwarded last
  bool late_input_ = false;
  std::size_t records_before_batch_ = 0;
  std::size_t largest_expansion_ = 0;
  std::size_t records_seen_ = 0;
  std::size_t records_max_;
  bool has_stray_views_ = false;  // the output must not even be read
  bool failed_ = false;
  std::string failure_;
  std::string violation_;
};

}  // namespace hummer
