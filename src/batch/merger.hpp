// Merger: sorted streams as one.
//
//   Merger merger(order, std::move(streams));
//   merger.next() ...                          // a RecordStream
//
// Equal keys go out in the order of the streams, so a merge of streams that were sorted stably is
// stable. Views are those of the streams: no byte is copied, and a span ends where one of the
// streams has to go on. A single stream, also the last one left, goes through by whole spans.
//
// A tree of losers: the first record of each stream plays against the one that lost at each node
// above it, so a record costs as many comparisons as the tree is deep. Most compare 8 bytes of the
// keys that are kept beside them.
//
// A failure of a stream is that of the merger.
//
// Thread: one. Cost: about 48 bytes per stream, and a span of views.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <hummer/batch/key_order.hpp>
#include <hummer/batch/record_stream.hpp>

namespace hummer::batch {

class Merger final : public RecordStream {
 public:
  Merger(KeyOrder order, std::vector<std::unique_ptr<RecordStream>> streams);

  Result<std::span<const RecordView>> next() override;

 private:
  struct Input {
    std::uint64_t prefix = ~std::uint64_t{0};
    const RecordView* at = nullptr;  // null: the stream has ended
    const RecordView* end = nullptr;
    std::unique_ptr<RecordStream> stream;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // The next span of an input.
  Status go_on(Input& input);
  Status begin();
  template <typename Form>
  bool beats(const Form& form, std::uint32_t a, std::uint32_t b) const;
  // Plays all games below `node`: who wins there.
  template <typename Form>
  std::uint32_t play_all(const Form& form, std::uint32_t node);
  // Plays those above an input whose record has changed: who wins.
  template <typename Form>
  std::uint32_t play_above(const Form& form, std::uint32_t input);
  // Fills views_ until one input has to go on, or there is no room.
  template <typename Form>
  std::size_t take(const Form& form);

  const KeyOrder order_;
  std::vector<Input> inputs_;
  std::vector<std::uint32_t> losers_;  // by node of the tree; its root is 1
  std::vector<RecordView> views_;
  std::size_t running_ = 0;  // streams that have not ended
  std::uint32_t winner_ = none;
  std::uint32_t waiting_ = none;  // the input that has to go on
};

}  // namespace hummer::batch
