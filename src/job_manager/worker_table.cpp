#include "job_manager/worker_table.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hummer {
namespace {

std::string describe(const wire::LeftOver& left) {
  std::string text = fmt::format("{} of a lost session has not given back slot {}", left.name(),
                                 fmt::join(left.slots(), ", "));
  for (const std::string& stuck : left.stuck()) text += "; " + stuck;
  return text;
}

}  // namespace

Worker& WorkerTable::add(wire::Registration registration, std::string address, Nanoseconds now) {
  HUMMER_ASSERT(find_id(registration.id()) == nullptr);
  const auto lost = lost_by_id_.find(registration.id());
  if (lost != lost_by_id_.end()) forget_lost(lost->second);
  auto made = std::make_unique<Worker>();
  Worker& worker = *made;
  worker.session = ++last_session_;
  worker.registration = std::move(registration);
  worker.address = std::move(address);
  worker.last_heard = now;
  worker.slots.resize(worker.registration.slots());
  for (const std::uint32_t slot : worker.registration.slots_held()) {
    if (slot >= worker.slots.size() || worker.slots[slot] != 0) continue;
    worker.slots[slot] = Worker::left_over;
    ++worker.stuck_slots;
  }
  worker.free_slots = worker.registration.slots() - worker.stuck_slots;
  worker.place_ = by_last_heard_.insert(by_last_heard_.end(), &worker);
  by_session_[worker.session] = &worker;
  by_id_[worker.id()] = &worker;
  count_of(worker).free += worker.free_slots;
  count_of(worker).all += worker.free_slots;
  count_of(worker).stuck += worker.stuck_slots;
  live_.emplace(worker.session, std::move(made));
  return worker;
}

void WorkerTable::forget_lost(std::list<LostWorker>::iterator lost) {
  lost_by_id_.erase(lost->id);
  lost_.erase(lost);
}

Worker* WorkerTable::find(std::uint64_t session) {
  const auto found = by_session_.find(session);
  return found == by_session_.end() ? nullptr : found->second;
}

Worker* WorkerTable::find_id(const std::string& id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

void WorkerTable::heard(Worker& worker, Nanoseconds now) {
  worker.last_heard = now;
  by_last_heard_.splice(by_last_heard_.end(), by_last_heard_, worker.place_);
}

void WorkerTable::lose(Worker& worker, std::string reason) {
  if (remembered_ > 0) {
    if (lost_.size() >= remembered_) forget_lost(lost_.begin());
    lost_.push_back({worker.id(), worker.address, worker.registration.slots(), worker.last_heard,
                     std::move(reason)});
    lost_by_id_[worker.id()] = std::prev(lost_.end());
  }
  SlotCount& count = count_of(worker);
  count.free -= worker.free_slots;
  count.all -= worker.registration.slots() - worker.stuck_slots;
  count.stuck -= worker.stuck_slots;
  if (count.all == 0 && count.stuck == 0) counts_.erase(worker.registration.program_hash());
  by_last_heard_.erase(worker.place_);
  by_session_.erase(worker.session);
  by_id_.erase(worker.id());
  live_.erase(worker.session);
}

void WorkerTable::occupy(Worker& worker, std::uint32_t slot, std::uint64_t job) {
  if (slot >= worker.slots.size()) {
    HUMMER_ASSERT(worker.extra_slots.emplace(slot, job).second);
    return;
  }
  HUMMER_ASSERT(worker.slots[slot] == 0);
  worker.slots[slot] = job;
  --worker.free_slots;
  --count_of(worker).free;
}

void WorkerTable::release(Worker& worker, std::uint64_t job) {
  std::erase_if(worker.extra_slots, [&](const auto& slot) { return slot.second == job; });
  for (std::uint64_t& holder : worker.slots) {
    if (holder != job) continue;
    holder = 0;
    ++worker.free_slots;
    ++count_of(worker).free;
  }
}

bool WorkerTable::take_left_over(Worker& worker, const wire::TaskManagerState& state) {
  worker.stuck.clear();
  if (worker.stuck_slots == 0) return false;
  std::set<std::uint32_t> held;
  for (const wire::LeftOver& each : state.left_over()) {
    if (each.slots().empty()) continue;
    held.insert(each.slots().begin(), each.slots().end());
    worker.stuck.push_back(describe(each));
  }
  const std::uint32_t before = worker.stuck_slots;
  for (std::uint32_t slot = 0; slot < worker.slots.size(); ++slot) {
    if (worker.slots[slot] == Worker::left_over && !held.contains(slot)) {
      free_left_over(worker, slot);
    }
  }
  return worker.stuck_slots != before;
}

void WorkerTable::free_left_over(Worker& worker, std::uint32_t slot) {
  worker.slots[slot] = 0;
  --worker.stuck_slots;
  ++worker.free_slots;
  SlotCount& count = count_of(worker);
  --count.stuck;
  ++count.free;
  ++count.all;
}

SlotCount WorkerTable::slots(std::uint64_t program_hash) const {
  SlotCount sum;
  for (const std::uint64_t program : {std::uint64_t{0}, program_hash}) {
    const auto found = counts_.find(program);
    if (found != counts_.end()) {
      sum.free += found->second.free;
      sum.all += found->second.all;
      sum.stuck += found->second.stuck;
    }
    if (program_hash == 0) break;
  }
  return sum;
}

}  // namespace hummer
