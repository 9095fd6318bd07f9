// find_elf_note: a note out of an ELF file's bytes, without loading it.
//
// Reads what a 64-bit little-endian ELF file says of itself: the program headers of type PT_NOTE,
// and in these the notes. Sections are not needed, so a stripped file will do. Every offset
// and size is checked against the bytes that are there; the file may hold anything.
//
// Pure; the answer points into `file`. Errors: corrupt_file, saying what is wrong: no ELF file, of
// another machine, cut short. A well-formed file without the note: not_found.
#pragma once

#include <cstdint>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

// The description of the first note with this owner and type.
Result<std::string_view> find_elf_note(std::string_view file, std::string_view owner,
                                       std::uint32_t type);

}  // namespace hummer
