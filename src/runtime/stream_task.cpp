#include "runtime/stream_task.hpp"

namespace hummer {
namespace {

// Elements handled between two yields: long enough that the scheduler costs little,
// short enough that a slot's other tasks find their input in the cache.
constexpr int elements_per_turn = 4;
constexpr Nanoseconds operator_retry_first_ns = 20'000;
constexpr Nanoseconds operator_retry_last_ns = 2'000'000;

}  // namespace

StreamTask::StreamTask(Platform& platform, std::string name, std::string slot)
    : platform_(platform), chain_(std::make_unique<ChainDriver>(platform, wake_event_, figures_)) {
  figures_.name = std::move(name);
  figures_.slot = std::move(slot);
}

StreamTask::~StreamTask() = default;

void StreamTask::cancel() {
  cancelled_.store(true, std::memory_order_release);
  wake_event_.notify();
}

void StreamTask::stop() {
  stopping_.store(true, std::memory_order_release);
  wake_event_.notify();
}

std::string StreamTask::describe_state() const {
  const TaskState state = figures_.state.load(std::memory_order_acquire);
  const std::uint32_t index = figures_.current_operator.load(std::memory_order_relaxed);
  const std::string op = index < figures_.operators.size() ? figures_.operators[index].name : "";
  switch (state) {
    case TaskState::created: return "not started";
    case TaskState::running: return "inside operator '" + op + "'";
    case TaskState::waiting_for_input: return "waiting for input";
    case TaskState::blocked: return "blocked after operator '" + op + "'";
    case TaskState::finished: return "finished";
  }
  return {};
}

Task<void> StreamTask::invoke() {
  Executor& executor = co_await current_executor();
  merger_ = std::make_unique<WatermarkMerger>(inputs_.size());
  figures_.state.store(TaskState::running, std::memory_order_release);
  if (Status status = chain_->open(executor); !status.ok()) {
    finish(std::move(status));
    co_return;
  }
  co_await run();
}

// The one loop of a task.
Task<void> StreamTask::run() {
  Executor& executor = co_await current_executor();
  Nanoseconds retry_ns = operator_retry_first_ns;
  int turn = 0;
  bool end_sent = false;
  bool operator_blocks = false;
  for (;;) {
    if (cancelled_.load(std::memory_order_relaxed)) {
      finish({ErrorCode::cancelled, "cancelled"});
      co_return;
    }
    // 1. What is in flight goes first.
    figures_.calls.add(1);
    if (figures_.turn != nullptr) figures_.turn->store(&figures_, std::memory_order_relaxed);
    Answer answer = chain_->run();
    if (answer == Answer::failed) {
      finish(chain_->failure());
      co_return;
    }
    if (answer == Answer::blocked) {
      figures_.state.store(TaskState::blocked, std::memory_order_relaxed);
      const bool by_operator = chain_->blocked_by_operator();
      wake_event_.prepare_wait();
      answer = cancelled_.load(std::memory_order_relaxed) ? Answer::done
               : by_operator                              ? Answer::blocked
                                                          : chain_->run();
      if (answer != Answer::blocked) {
        wake_event_.cancel_wait();
        if (answer == Answer::failed) {
          finish(chain_->failure());
          co_return;
        }
      } else if (by_operator || chain_->blocked_by_operator()) {
        operator_blocks = true;
        figures_.operator_blocks.store(true, std::memory_order_relaxed);
        const Nanoseconds deadline = executor.now() + retry_ns;
        retry_ns = std::min(retry_ns * 2, operator_retry_last_ns);
        co_await wake_event_.wait_until(deadline);
      } else {
        co_await wake_event_.wait();
      }
      figures_.state.store(TaskState::running, std::memory_order_relaxed);
      chain_->set_now(executor.recent_now());
      continue;
    }
    retry_ns = operator_retry_first_ns;
    if (operator_blocks) {
      operator_blocks = false;
      figures_.operator_blocks.store(false, std::memory_order_relaxed);
    }
    if (end_sent) {
      finish({});
      co_return;
    }
    if (++turn >= elements_per_turn) {
      turn = 0;
      co_await yield();
      chain_->set_now(executor.recent_now());
    }
    if (chain_->next_timer() != never && chain_->fire_timer(executor.recent_now())) continue;

    // 2. The next element.
    bool at_hand = true;
    if (chain_->has_source()) {
      if (stopping_.load(std::memory_order_relaxed)) chain_->end_source();
      answer = chain_->produce();
      if (answer == Answer::failed) {
        finish(chain_->failure());
        co_return;
      }
      end_sent = answer == Answer::done;
      at_hand = answer != Answer::blocked || !chain_->idle();
      if (answer != Answer::blocked) idle_announced_ = false;
      if (answer == Answer::blocked && !chain_->idle()) idle_announced_ = false;
    } else {
      const Next next = take_input();
      if (next == Next::failed) {
        finish({ErrorCode::peer_gone, "a task upstream of '" + figures_.name + "' ended early"});
        co_return;
      }
      end_sent = next == Next::ended;
      at_hand = next != Next::nothing;
      if (at_hand) idle_announced_ = false;
    }
    if (at_hand) continue;

    // 3. Nothing at hand: let waiting records out, then sleep.
    if (!idle_announced_) {
      idle_announced_ = true;
      element_.control = Control::idle();
      chain_->offer(element_);
      continue;
    }
    figures_.state.store(TaskState::waiting_for_input, std::memory_order_relaxed);
    wake_event_.prepare_wait();
    bool ready = cancelled_.load(std::memory_order_relaxed) ||
                 (chain_->has_source() && stopping_.load(std::memory_order_relaxed));
    for (const Input& input : inputs_) {
      ready = ready || (!input.ended &&
                        (input.channel->poll() != nullptr || input.channel->producer_gone()));
    }
    if (chain_->has_source() && !ready) {
      // A source may have got something between its answer and prepare_wait().
      answer = chain_->produce();
      if (answer == Answer::failed) {
        wake_event_.cancel_wait();
        finish(chain_->failure());
        co_return;
      }
      end_sent = answer == Answer::done;
      ready = answer != Answer::blocked || !chain_->idle();
      if (ready) idle_announced_ = false;
    }
    if (ready) {
      wake_event_.cancel_wait();
    } else if (chain_->next_timer() != never) {
      co_await wake_event_.wait_until(chain_->next_timer());
    } else {
      co_await wake_event_.wait();
    }
    figures_.state.store(TaskState::running, std::memory_order_relaxed);
    chain_->set_now(executor.recent_now());
  }
}

StreamTask::Next StreamTask::take_input() {
  const std::size_t count = inputs_.size();
  for (std::size_t tried = 0; tried < count; ++tried) {
    const std::size_t index = next_input_;
    next_input_ = next_input_ + 1 == count ? 0 : next_input_ + 1;
    Input& input = inputs_[index];
    if (input.ended) continue;
    const bool gone = input.channel->producer_gone();
    Element* element = input.channel->poll();
    if (element == nullptr) {
      if (gone) return Next::failed;
      continue;
    }
    std::swap(element_.batch, element->batch);
    element_.control = std::exchange(element->control, {});
    input.channel->release();
    const bool something = take_element(index, element_);
    if (merger_->all_ended()) {
      element_.control = Control::end();
      chain_->offer(element_);
      return Next::ended;
    }
    if (something) {
      chain_->offer(element_);
      return Next::element;
    }
  }
  return Next::nothing;
}

// Merges the control; false when nothing is left to do for the chain.
bool StreamTask::take_element(std::size_t index, Element& element) {
  std::optional<Timestamp> moved;
  switch (element.control.kind) {
    case Control::Kind::watermark: moved = merger_->watermark(index, element.control.time); break;
    case Control::Kind::end:
      inputs_[index].ended = true;
      moved = merger_->ended(index);
      break;
    case Control::Kind::barrier:
    case Control::Kind::idle:
    case Control::Kind::none: return !element.batch.empty() || element.control;
  }
  element.control = moved ? Control::watermark(*moved) : Control{};
  return !element.batch.empty() || element.control;
}

void StreamTask::finish(Status status) {
  if (!status.ok()) chain_->abandon_emitters();
  for (Input& input : inputs_) input.channel->abandon_consumer();
  result_ = std::move(status);
  figures_.state.store(TaskState::finished, std::memory_order_release);
  if (on_finished_) on_finished_(*this);
}

Status StreamTask::close() { return chain_->close(); }

}  // namespace hummer
