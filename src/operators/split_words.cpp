#include <hummer/split_words.hpp>

#include <cstdint>
#include <cstring>

#include <hummer/detail/instruction_set.hpp>
#include <hummer/status.hpp>

#include "operators/split_words_kernels.hpp"

namespace hummer {
namespace {

FindWords choose() {
  // The loops write views as (length, pointer); make sure that this library does, too.
  const char letters[2] = {'a', 'b'};
  const std::string_view view(letters, 2);
  WordView same;
  static_assert(sizeof same == sizeof view);
  std::memcpy(&same, &view, sizeof same);
  HUMMER_ASSERT(same.length == 2 && same.data == letters);
  switch (best_instruction_set()) {
    case InstructionSet::v4: return find_words_v4;
    case InstructionSet::v3: return find_words_v3;
    case InstructionSet::v2: break;
  }
  return find_words_v2;
}

}  // namespace

std::size_t find_words(std::string_view text, std::span<std::string_view> words,
                       std::size_t& count) {
  static const FindWords find = choose();
  return find(text.data(), text.size(), reinterpret_cast<WordView*>(words.data()), words.size(),
              count);
}

}  // namespace hummer
