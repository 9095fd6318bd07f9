#include "control/job_manager/worker_table.hpp"

#include <algorithm>
#include <utility>

namespace hummer {

Worker& WorkerTable::add(wire::Registration registration, std::string address, Nanoseconds now) {
  HUMMER_ASSERT(find_id(registration.id()) == nullptr);
  std::erase_if(lost_, [&](const LostWorker& lost) { return lost.id == registration.id(); });
  auto made = std::make_unique<Worker>();
  Worker& worker = *made;
  worker.session = ++last_session_;
  worker.registration = std::move(registration);
  worker.address = std::move(address);
  worker.last_heard = now;
  worker.slots.resize(worker.registration.slots());
  worker.free_slots = worker.registration.slots();
  worker.place_ = by_last_heard_.insert(by_last_heard_.end(), &worker);
  by_session_[worker.session] = &worker;
  by_id_[worker.id()] = &worker;
  count_of(worker).free += worker.free_slots;
  count_of(worker).all += worker.free_slots;
  live_.emplace(worker.session, std::move(made));
  return worker;
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
    if (lost_.size() >= remembered_) lost_.pop_front();
    lost_.push_back({worker.id(), worker.address, worker.registration.slots(), worker.last_heard,
                     std::move(reason)});
  }
  SlotCount& count = count_of(worker);
  count.free -= worker.free_slots;
  count.all -= worker.registration.slots();
  if (count.all == 0) counts_.erase(worker.registration.program_hash());
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

SlotCount WorkerTable::slots(std::uint64_t program_hash) const {
  SlotCount sum;
  for (const std::uint64_t program : {std::uint64_t{0}, program_hash}) {
    const auto found = counts_.find(program);
    if (found != counts_.end()) {
      sum.free += found->second.free;
      sum.all += found->second.all;
    }
    if (program_hash == 0) break;
  }
  return sum;
}

}  // namespace hummer
