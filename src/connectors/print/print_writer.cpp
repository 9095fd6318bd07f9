// The writer of print(): standard output, whole lines at a time, nothing held
// back. A reader that has gone away (a closed pipe) fails the job.
#include <utility>

#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/connector_factories.hpp>

#include "platform/platform.hpp"

namespace hummer {
namespace {

class PrintWriter final : public TextWriter {
 public:
  Status open(OperatorContext& context) override {
    context_ = &connector_context(context);
    return {};
  }
  OperatorResult write(std::string_view lines) override {
    const Status status = context_->platform().write_standard(1, lines);
    if (!status.ok()) {
      return context_->fail(status.with_context("print (its output is cut off here)"));
    }
    context_->count_bytes(lines.size());
    return OperatorResult::done;
  }
  Status commit() override { return {}; }
  void close() override {}

 private:
  ConnectorContext* context_ = nullptr;
};

class PrintWriterFactory final : public TextWriterFactory {
 public:
  std::unique_ptr<TextWriter> make() const override { return std::make_unique<PrintWriter>(); }
};

}  // namespace

std::shared_ptr<const TextWriterFactory> make_print_writer() {
  return std::make_shared<PrintWriterFactory>();
}

}  // namespace hummer
