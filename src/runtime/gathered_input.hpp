// GatheredInput: elements that a task has taken from its channels and not offered to its chain,
// because the operator at the head looks ahead (LooksAhead).
//
//   gathered.add(element, input, batch_of) …     until it is enough, or there is no more
//   chain.look_ahead(gathered.show())            all that is there
//   while (gathered.hands_out()) { input = gathered.take(element, batch_of); … }
//
// A queue: what is added while a part of it is handed out is shown with the next part. Batches go
// round: where one is put in, the one that was used in its place goes out.
// Thread: that of the task.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <hummer/batch.hpp>
#include <hummer/detail/looks_ahead.hpp>

namespace hummer {

class GatheredInput {
 public:
  bool empty() const { return count_ == 0; }
  // Some were shown, and go to the chain now.
  bool hands_out() const { return shown_left_ > 0; }
  // Of those that were shown last: how many they were, and how many have not been taken.
  std::size_t shown() const { return shown_; }
  std::size_t shown_left() const { return shown_left_; }
  // Whether what was not shown is as much as the operator can do with, ...
  bool is_enough(const LooksAhead::Reach& reach) const {
    return records_ >= reach.records || bytes_ >= reach.bytes;
  }
  // ... and whether there is any, and something among it that should not wait for more.
  bool has_more() const { return count_ > shown_left_; }
  bool is_urgent() const { return urgent_; }

  // Takes the element, which came by this input of the head, and leaves a used batch. `batch_of`:
  // of which input `element` has a batch, which differ in type; of a control it may be another one.
  void add(Element& element, int input, int& batch_of) {
    if (count_ == places_.size()) make_place(batch_of);
    Place& place = places_[at(count_++)];
    place.input = input;
    records_ += element.batch.size();
    if (element.batch.has_storage()) bytes_ += element.batch.memory_bytes();
    const Control::Kind kind = element.control.kind;
    urgent_ = urgent_ || (kind != Control::Kind::none && kind != Control::Kind::watermark);
    std::swap(place.element.batch, element.batch);
    place.element.control = std::exchange(element.control, {});
    std::swap(place.batch_of, batch_of);
  }
  // All that waits, which is handed out from now on. REQUIRES: !hands_out(), !empty().
  std::span<const LooksAhead::Waiting> show() {
    shown_ = shown_left_ = count_;
    records_ = bytes_ = 0;
    urgent_ = false;
    waiting_.clear();
    each([&](const Batch& batch, int input) { waiting_.push_back({&batch, input}); });
    return waiting_;
  }
  // The next element, and by which input it came; the used batch in `element` goes in its place.
  // REQUIRES: hands_out().
  int take(Element& element, int& batch_of) {
    Place& place = places_[first_];
    first_ = at(1);
    --count_;
    --shown_left_;
    std::swap(element.batch, place.element.batch);
    element.control = std::exchange(place.element.control, {});
    std::swap(place.batch_of, batch_of);
    return place.input;
  }
  // Calls with each batch that has not been taken, and by which input it came.
  template <typename Visit>
  void each(Visit&& visit) const {
    for (std::size_t i = 0; i < count_; ++i) {
      const Place& place = places_[at(i)];
      if (!place.element.batch.empty()) visit(place.element.batch, place.input);
    }
  }
  // They are taken as if they had never come.
  void forget_barriers() {
    for (std::size_t i = 0; i < count_; ++i) {
      Control& control = places_[at(i)].element.control;
      if (control.kind == Control::Kind::barrier) control = {};
    }
  }
  // Used batches go.
  void release() {
    if (!empty()) return;
    places_.clear();
    first_ = 0;
  }

 private:
  struct Place {
    Element element;
    int input = 0;
    int batch_of = 0;
  };

  // Where the place so many behind the first one is.
  std::size_t at(std::size_t behind) const {
    const std::size_t place = first_ + behind;
    return place < places_.size() ? place : place - places_.size();
  }
  // REQUIRES: all are used.
  void make_place(int batch_of) {
    std::rotate(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(first_),
                places_.end());
    first_ = 0;
    places_.push_back({.element = {}, .batch_of = batch_of});
  }

  std::vector<Place> places_;  // a ring
  std::vector<LooksAhead::Waiting> waiting_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::size_t shown_ = 0;
  std::size_t shown_left_ = 0;
  std::size_t records_ = 0;  // of those that were not shown
  std::size_t bytes_ = 0;    // likewise
  bool urgent_ = false;
};

}  // namespace hummer
