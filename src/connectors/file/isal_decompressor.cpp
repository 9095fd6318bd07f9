#include "connectors/file/gzip_decompressor.hpp"

#if __has_include(<isa-l/igzip_lib.h>)
#include <algorithm>

#include <isa-l/igzip_lib.h>

#include "platform/system_library.hpp"

namespace hummer {
namespace {

struct Isal {
  decltype(&::isal_inflate_init) init;
  decltype(&::isal_inflate_reset) reset;
  decltype(&::isal_inflate) inflate;

  bool is_here() const { return init != nullptr && reset != nullptr && inflate != nullptr; }
};

// The library of the header's own version: another one may have another state.
const Isal& isal() {
  constexpr const char* library = "libisal.so.2";
  static const Isal found{
      reinterpret_cast<decltype(Isal::init)>(system_symbol(library, "isal_inflate_init")),
      reinterpret_cast<decltype(Isal::reset)>(system_symbol(library, "isal_inflate_reset")),
      reinterpret_cast<decltype(Isal::inflate)>(system_symbol(library, "isal_inflate"))};
  return found;
}

// What the library counts in.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

class IsalDecompressor final : public GzipDecompressor {
 public:
  explicit IsalDecompressor(std::string name) : GzipDecompressor(std::move(name)) {
    isal().init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }

 private:
  Inflated inflate_some(std::span<const char> input, std::span<char> output, Step& step,
                        std::string& reason) override {
    const std::size_t in = std::min(input.size() - step.consumed, most_bytes);
    const std::size_t out = std::min(output.size() - step.produced, most_bytes);
    // It does not write to its input.
    auto* const from = reinterpret_cast<const std::uint8_t*>(input.data() + step.consumed);
    state_->next_in = const_cast<std::uint8_t*>(from);
    state_->avail_in = static_cast<std::uint32_t>(in);
    state_->next_out = reinterpret_cast<std::uint8_t*>(output.data() + step.produced);
    state_->avail_out = static_cast<std::uint32_t>(out);
    const int answer = isal().inflate(state_.get());
    step.consumed += in - state_->avail_in;
    step.produced += out - state_->avail_out;
    if (answer < 0) {
      reason = reason_of(answer);
      return Inflated::damaged;
    }
    if (state_->block_state != ISAL_BLOCK_FINISH) return Inflated::some;
    isal().reset(state_.get());
    state_->crc_flag = ISAL_GZIP;
    return Inflated::whole_member;
  }

  static const char* reason_of(int answer) {
    switch (answer) {
      case ISAL_INVALID_BLOCK: return "invalid block";
      case ISAL_INVALID_SYMBOL: return "invalid symbol";
      case ISAL_INVALID_LOOKBACK: return "invalid distance too far back";
      case ISAL_INVALID_WRAPPER: return "incorrect header";
      case ISAL_UNSUPPORTED_METHOD: return "unknown compression method";
      case ISAL_INCORRECT_CHECKSUM: return "incorrect checksum or length";
      default: return "no reason given";
    }
  }

  // Some 90 KiB, which the library's own calls fill.
  const std::unique_ptr<inflate_state> state_ = std::make_unique_for_overwrite<inflate_state>();
};

}  // namespace

std::unique_ptr<Decompressor> make_isal_decompressor(std::string name) {
  if (!isal().is_here()) return nullptr;
  return std::make_unique<IsalDecompressor>(std::move(name));
}

}  // namespace hummer
#else
namespace hummer {
std::unique_ptr<Decompressor> make_isal_decompressor(std::string) { return nullptr; }
}  // namespace hummer
#endif
