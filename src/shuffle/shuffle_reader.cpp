#include "shuffle/shuffle_reader.hpp"

#include <utility>

#include <hummer/detail/connector_context.hpp>

namespace hummer {

ShuffleReader::ShuffleReader(ShuffleAccess access, std::vector<ShuffleInput> inputs,
                             const TypeDescriptor& type,
                             std::function<void(const ShuffleKey&)> on_lost)
    : type_(type),
      fetcher_(std::make_shared<ShuffleFetcher>(std::move(access), std::move(inputs),
                                                std::move(on_lost))),
      reader_(type) {}

ShuffleReader::~ShuffleReader() { fetcher_->give_up(); }

Status ShuffleReader::open() {
  ConnectorContext& engine = connector_context(context());
  fetcher_->start(engine.executor(), engine.wake_event());
  return {};
}

OperatorResult ShuffleReader::produce(Output& out) {
  while (true) {
    if (!reader_->finished()) {
      Batch& batch = out.batch(0);
      Control control;
      const Result<BlockReader::Item> item = reader_->next(batch, control);
      if (!item.ok()) return context().fail(item.status().with_context("reading shuffle files"));
      if (!batch.empty()) return OperatorResult::more;
      continue;
    }
    ShuffleFetcher::Item item;
    if (!fetcher_->take(item)) {
      if (!fetcher_->failure().ok()) return context().fail(fetcher_->failure());
      return fetcher_->finished() ? OperatorResult::done : OperatorResult::blocked;
    }
    if (!item.bytes) {
      reader_.emplace(type_);
      continue;
    }
    const std::string_view bytes(item.bytes->data(), item.bytes->size());
    context().count_bytes(bytes.size());
    reader_->start({.buffer = std::move(item.bytes), .bytes = bytes});
  }
}

Status ShuffleReader::close() {
  fetcher_->give_up();
  return {};
}

}  // namespace hummer
