// ParsedType: the name that a codec gives a type (hummer/codec.hpp), taken apart, and the bytes of
// its values passed over by it: for whoever has a snapshot and not the program that wrote it.
//
//   u64  f32  bool  string  text  text_block      vector<T>  optional<T>  pair<A,B>  tuple<…>
//   array<T,4>  enum<u8,shop::Color>              shop::Order{u64,string}      by reflection
//   bank.Account+{u64,i64}                        `evolving`: a byte counts the fields
//   bank.Account#{id:u64,cents:i64}               `evolving` with `fields`
//   shop.Money@2                                  VersionedCodec: nobody else reads it
//
// and what states and tables are called (value<T>, list<T>, map<K,V>…), whose heads are kept.
//
// Thread: values. Errors: what is none of these is `unknown`; of a text whose brackets don't match
// there is nothing. Cost: linear in the name. A ParsedType holds views of the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/bytes.hpp>

namespace hummer {

struct ParsedType {
  enum class Kind : std::uint8_t {
    number,    // head[0]: 'i', 'u' or 'f'; `count` bytes
    boolean,   // a byte, 0 or 1
    text,      // string or text: a length of 32 bits, then the bytes
    block,     // text_block: an offset, then text
    sequence,  // vector<T>
    optional,
    tuple,       // pair and tuple too
    array,       // `count` of parts[0]
    enumerator,  // parts[0] is its number
    aggregate,   // by reflection
    evolving,    // a byte says how many of the parts there are
    named,       // as aggregate; its parts have names
    state,       // value<T>, list<T>, …: by head
    unknown,
  };

  Kind kind = Kind::unknown;
  std::string_view text;   // the whole
  std::string_view head;   // ahead of the brackets, without + and #
  std::string_view field;  // its own name, as a part of a named type
  std::size_t count = 0;
  std::vector<ParsedType> parts;
};

// Nothing: brackets that don't match, or too many in one another.
std::optional<ParsedType> parse_type(std::string_view text);

// Whether every value is of no bytes, as one of a struct without members: then how many of them
// follow each other could be any number.
bool takes_no_bytes(const ParsedType& type);
// Whether values are passed over without their codec.
bool can_pass_over(const ParsedType& type);
// False: the bytes are no value of it. `copy`: has them appended; null: nobody wants them.
// REQUIRES: can_pass_over(type).
[[nodiscard]] bool pass_over(const ParsedType& type, ByteReader& in, std::string* copy = nullptr);

// The text up to the comma or bracket that ends a type, which stay; `rest` begins there.
std::string_view take_type(std::string_view& rest);
// "name:" in front of a field's type; empty: there is none.
std::string_view take_field_name(std::string_view& rest);

}  // namespace hummer
