// GatheredInput: elements that a task has taken from its channels and not offered to its chain,
// because the operator at the head looks ahead (LooksAhead).
//
//   gathered.add(element, input, batch_of) …   until it is enough, or there is no more
//   chain.look_ahead(gathered.begin_handing_out())
//   while (!gathered.empty()) { input = gathered.take(element, batch_of); … }
//
// Batches go round: where one is put in, the one that was used in its place goes out.
// Thread: that of the task.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <hummer/batch.hpp>
#include <hummer/detail/looks_ahead.hpp>

namespace hummer {

class GatheredInput {
 public:
  bool empty() const { return first_ == count_; }
  // Some were shown, and go to the chain now.
  bool hands_out() const { return hands_out_; }
  // Whether it is as much as the operator can do with.
  bool is_enough(const LooksAhead::Reach& reach) const {
    return records_ >= reach.records || bytes_ >= reach.bytes;
  }

  // Takes the element, which came by this input of the head, and leaves a used batch. `batch_of`:
  // of which input `element` has a batch, which differ in type; of a control it may be another one.
  // REQUIRES: none is handed out.
  void add(Element& element, int input, int& batch_of) {
    if (count_ == places_.size()) places_.push_back({.element = {}, .batch_of = input});
    Place& place = places_[count_++];
    place.input = input;
    records_ += element.batch.size();
    if (element.batch.has_storage()) bytes_ += element.batch.memory_bytes();
    std::swap(place.element.batch, element.batch);
    place.element.control = std::exchange(element.control, {});
    std::swap(place.batch_of, batch_of);
  }
  // What waits.
  std::span<const LooksAhead::Waiting> begin_handing_out() {
    hands_out_ = true;
    waiting_.clear();
    each([&](const Batch& batch, int input) { waiting_.push_back({&batch, input}); });
    return waiting_;
  }
  // The next element, and by which input it came; the used batch in `element` goes in its place.
  // REQUIRES: !empty().
  int take(Element& element, int& batch_of) {
    Place& place = places_[first_++];
    std::swap(element.batch, place.element.batch);
    element.control = std::exchange(place.element.control, {});
    std::swap(place.batch_of, batch_of);
    if (empty()) begin_anew();
    return place.input;
  }
  // Calls with each batch that has not been taken, and by which input it came.
  template <typename Visit>
  void each(Visit&& visit) const {
    for (std::size_t i = first_; i < count_; ++i) {
      if (!places_[i].element.batch.empty()) visit(places_[i].element.batch, places_[i].input);
    }
  }
  // Used batches go.
  void release() {
    if (empty()) places_.clear();
  }

 private:
  struct Place {
    Element element;
    int input = 0;
    int batch_of = 0;
  };

  void begin_anew() {
    first_ = count_ = records_ = bytes_ = 0;
    hands_out_ = false;
  }

  std::vector<Place> places_;
  std::vector<LooksAhead::Waiting> waiting_;
  std::size_t first_ = 0;  // that was not taken
  std::size_t count_ = 0;
  std::size_t records_ = 0;
  std::size_t bytes_ = 0;
  bool hands_out_ = false;
};

}  // namespace hummer
