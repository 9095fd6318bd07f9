#include "job_library/elf_note.hpp"

#include <cstring>
#include <optional>

namespace hummer {
namespace {

// Positions and values as in the System V ABI, chapter "Object files"; the machine is x86-64.
constexpr std::string_view elf_magic =
    "\x7f"
    "ELF";
constexpr std::size_t header_bytes = 64;
constexpr std::uint8_t class_64 = 2;
constexpr std::uint8_t little_endian = 1;
constexpr std::uint16_t type_shared = 3;
constexpr std::uint16_t machine_x86_64 = 62;
constexpr std::uint32_t segment_note = 4;
constexpr std::size_t program_header_bytes = 56;
constexpr std::size_t note_header_bytes = 12;

// REQUIRES: at + sizeof(Number) <= bytes.size()
template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// [offset, offset + size) of `bytes`, if that is there.
std::optional<std::string_view> part(std::string_view bytes, std::uint64_t offset,
                                     std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.substr(offset, size);
}

std::uint64_t round_up(std::uint64_t size, std::uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

Status corrupt(const char* what) { return {ErrorCode::corrupt_file, what}; }

// The description of the first such note in a note segment; empty: it has none, or is malformed,
// which for the one who asks is the same.
std::optional<std::string_view> find_in_segment(std::string_view notes, std::uint64_t alignment,
                                                std::string_view owner, std::uint32_t type) {
  while (notes.size() >= note_header_bytes) {
    const auto owner_bytes = number_at<std::uint32_t>(notes, 0);
    const auto text_bytes = number_at<std::uint32_t>(notes, 4);
    const auto text_at = round_up(note_header_bytes + std::uint64_t{owner_bytes}, alignment);
    const auto name = part(notes, note_header_bytes, owner_bytes);
    const auto text = part(notes, text_at, text_bytes);
    if (!name || !text) return std::nullopt;
    const bool is_owner =
        name->size() == owner.size() + 1 && name->starts_with(owner) && name->back() == '\0';
    if (is_owner && number_at<std::uint32_t>(notes, 8) == type) return text;
    const std::uint64_t next = round_up(text_at + text_bytes, alignment);
    if (next >= notes.size()) break;
    notes.remove_prefix(next);
  }
  return std::nullopt;
}

}  // namespace

Result<std::string_view> find_elf_note(std::string_view file, std::string_view owner,
                                       std::uint32_t type) {
  if (!file.starts_with(elf_magic)) return corrupt("it is no ELF file");
  if (file.size() < header_bytes) return corrupt("it is cut short: its ELF header is not whole");
  if (number_at<std::uint8_t>(file, 4) != class_64 ||
      number_at<std::uint8_t>(file, 5) != little_endian ||
      number_at<std::uint16_t>(file, 18) != machine_x86_64) {
    return corrupt("it is not for x86-64");
  }
  if (number_at<std::uint16_t>(file, 16) != type_shared) return corrupt("it is no shared library");
  const auto headers_at = number_at<std::uint64_t>(file, 32);
  const std::uint64_t header_size = number_at<std::uint16_t>(file, 54);
  const std::uint64_t header_count = number_at<std::uint16_t>(file, 56);
  const auto headers = part(file, headers_at, header_size * header_count);
  if (!headers || (header_count > 0 && header_size < program_header_bytes)) {
    return corrupt("it is cut short, or its program headers are damaged");
  }
  // All segments first, and the table of sections, which stands last: a file that was cut has lost
  // its end. (Offset 0: stripped of that table.)
  const std::uint64_t table_size =
      std::uint64_t{number_at<std::uint16_t>(file, 58)} * number_at<std::uint16_t>(file, 60);
  if (!part(file, number_at<std::uint64_t>(file, 40), table_size)) {
    return corrupt("it is cut short: its section table is not whole");
  }
  for (std::uint64_t i = 0; i < header_count; ++i) {
    const std::string_view header = headers->substr(i * header_size, header_size);
    if (!part(file, number_at<std::uint64_t>(header, 8), number_at<std::uint64_t>(header, 32))) {
      return corrupt("it is cut short: one of its segments is not whole");
    }
  }
  for (std::uint64_t i = 0; i < header_count; ++i) {
    const std::string_view header = headers->substr(i * header_size, header_size);
    if (number_at<std::uint32_t>(header, 0) != segment_note) continue;
    const std::string_view notes =
        *part(file, number_at<std::uint64_t>(header, 8), number_at<std::uint64_t>(header, 32));
    const std::uint64_t alignment = number_at<std::uint64_t>(header, 48) == 8 ? 8 : 4;
    if (const auto text = find_in_segment(notes, alignment, owner, type)) return *text;
  }
  return Status(ErrorCode::not_found, "it has no note of " + std::string(owner));
}

}  // namespace hummer
