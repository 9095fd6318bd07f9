#include "job_library/elf_note.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace hummer::elf_note_test {
namespace {

template <typename Number>
void put(std::string& bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

std::string note(const std::string& owner, std::uint32_t type, const std::string& text) {
  std::string bytes(12, '\0');
  put<std::uint32_t>(bytes, 0, static_cast<std::uint32_t>(owner.size() + 1));
  put<std::uint32_t>(bytes, 4, static_cast<std::uint32_t>(text.size()));
  put<std::uint32_t>(bytes, 8, type);
  bytes += owner;
  bytes.resize((bytes.size() + 1 + 3) / 4 * 4);
  bytes += text;
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

// A shared library of one loaded segment and one of notes.
std::string library(const std::string& notes) {
  std::string bytes(64 + 2 * 56, '\0');
  std::memcpy(bytes.data(),
              "\x7f"
              "ELF\x02\x01\x01",
              7);
  put<std::uint16_t>(bytes, 16, 3);
  put<std::uint16_t>(bytes, 18, 62);
  put<std::uint64_t>(bytes, 32, 64);
  put<std::uint16_t>(bytes, 54, 56);
  put<std::uint16_t>(bytes, 56, 2);
  put<std::uint32_t>(bytes, 64, 1);
  put<std::uint64_t>(bytes, 64 + 32, bytes.size());
  put<std::uint32_t>(bytes, 120, 4);
  put<std::uint64_t>(bytes, 120 + 8, bytes.size());
  put<std::uint64_t>(bytes, 120 + 32, notes.size());
  put<std::uint64_t>(bytes, 120 + 48, 4);
  return bytes + notes;
}

Status refusal(const std::string& bytes) { return find_elf_note(bytes, "hummer", 1).status(); }

TEST(ElfNote, IsFoundAmongOthers) {
  const std::string file = library(note("GNU", 3, "build id") + note("hummer", 2, "older form") +
                                   note("hummer", 1, "the text") + note("hummer", 1, "another"));
  const Result<std::string_view> text = find_elf_note(file, "hummer", 1);
  ASSERT_TRUE(text.ok()) << text.status().to_string();
  EXPECT_EQ(*text, "the text");
}

TEST(ElfNote, AWholeLibraryWithoutItIsSomethingElseThanADamagedOne) {
  EXPECT_EQ(refusal(library(note("GNU", 3, "build id"))).code(), ErrorCode::not_found);
  EXPECT_EQ(refusal(library(note("hummers", 1, "text"))).code(), ErrorCode::not_found);
  EXPECT_EQ(refusal(library("")).code(), ErrorCode::not_found);
  EXPECT_EQ(refusal("").code(), ErrorCode::corrupt_file);
  EXPECT_EQ(refusal("text, and quite long").code(), ErrorCode::corrupt_file);
}

TEST(ElfNote, OfAFileThatWasCutIsRefusedAtEveryLength) {
  const std::string file = library(note("hummer", 1, "the text"));
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_EQ(refusal(file.substr(0, length)).code(), ErrorCode::corrupt_file) << length;
  }
}

TEST(ElfNote, OtherMachinesAndKindsOfFilesAreRefusedByThatName) {
  std::string file = library(note("hummer", 1, "the text"));
  std::string arm = file;
  put<std::uint16_t>(arm, 18, 183);
  EXPECT_NE(refusal(arm).message().find("x86-64"), std::string::npos);
  std::string object = file;
  put<std::uint16_t>(object, 16, 1);
  EXPECT_NE(refusal(object).message().find("no shared library"), std::string::npos);
}

TEST(ElfNote, SizesThatOverflowAreRefused) {
  const std::string whole = library(note("hummer", 1, "the text"));
  const std::size_t at = 64 + 2 * 56;
  for (const std::size_t field : {at, at + 4}) {
    std::string file = whole;
    put<std::uint32_t>(file, field, 0xffffffff);
    EXPECT_FALSE(refusal(file).ok());
  }
  for (const std::size_t field :
       {std::size_t{32}, std::size_t{40}, std::size_t{120 + 8}, std::size_t{120 + 32}}) {
    std::string file = whole;
    put<std::uint64_t>(file, field, ~std::uint64_t{0});
    EXPECT_EQ(refusal(file).code(), ErrorCode::corrupt_file);
  }
  std::string many = whole;
  put<std::uint16_t>(many, 56, 0xffff);
  EXPECT_EQ(refusal(many).code(), ErrorCode::corrupt_file);
  std::string narrow = whole;
  put<std::uint16_t>(narrow, 54, 8);
  EXPECT_EQ(refusal(narrow).code(), ErrorCode::corrupt_file);
}

}  // namespace
}  // namespace hummer::elf_note_test
