// Any bytes as a job library's file: no crash, no read outside of them (ASan), and the same answer
// for a copy. What is found lies in the file.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "job_library/elf_note.hpp"

namespace {

using namespace hummer;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  const Result<std::string_view> note = find_elf_note(file, "hummer", 1);
  if (note.ok()) {
    require(note->data() >= file.data());
    require(note->data() + note->size() <= file.data() + file.size());
  } else {
    require(!note.status().message().empty());
  }
  const std::string copy = file;
  const Result<std::string_view> again = find_elf_note(copy, "hummer", 1);
  require(again.ok() == note.ok() && (!note.ok() || *again == *note));
  return 0;
}
