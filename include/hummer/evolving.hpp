// Types that change while snapshots of theirs are kept.
//
// An aggregate may get further fields at its end, when it says so from its first version on:
//
//   struct Account {
//     static constexpr std::string_view evolving = "bank.Account";   // its name for ever
//     std::uint64_t id;
//     std::int64_t cents;
//     bool frozen = false;                                            // came later
//   };
//
// Its encoding begins with a byte that counts the fields; what an older program wrote is read, and
// the fields that it did not know keep their initialisers. Fields never go, change type or place.
//
// Where it names its fields, too, they may also go, change places, and become wider:
//
//   struct Account {
//     static constexpr std::string_view evolving = "bank.Account";
//     static constexpr auto fields = hummer::fields("id", "cents", "frozen");   // in their order
//     …
//
// A field is known by its name. One that was not saved keeps its initialiser, one that is gone is
// passed over (not if it has a codec of the author's own, whose bytes nobody else knows), numbers
// widen: i8 to i16, i32, i64; u8 to u16, u32, u64 and wider signed ones; f32 to f64. All else is
// refused before anything is read, and so is any change in keys, in the calls under way of an
// async_map and in records in flight of an unaligned checkpoint (take a savepoint). A value costs
// no bytes beyond its fields: names stand once in a snapshot,
// "bank.Account#{id:u64,cents:i64,frozen:bool}". A type begins with `fields`, or never has them.
//
// For any other change write a codec with versions, which reads all of them:
//
//   struct AccountForm {
//     using Value = Account;
//     static constexpr std::uint8_t version = 2;                      // that encode writes; from 1
//     static std::string name() { return "bank.Account"; }
//     static void encode(const Account&, ByteWriter&);
//     static bool decode(ByteReader&, Account&, std::uint8_t version);
//   };
//   template <> struct hummer::Codec<Account> : hummer::VersionedCodec<AccountForm> {};
//
// This one and the first cost a byte per value. All may stand anywhere inside of other types, and
// are told apart by their names: "bank.Account+{u64,i64,bool}", "bank.Account@2". can_read_type
// compares such names; a restore is refused where it says no, with both names.
//
// Thread: functions without state.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/bytes.hpp>
#include <hummer/detail/field_names.hpp>
#include <hummer/status.hpp>

namespace hummer {

// Whether a program whose type is called `own` reads what one wrote that called it `saved`: the
// names are equal but for fewer fields of evolving types, lower versions, and what may change where
// fields have names. `why`: is told which field is in the way, if it is one.
bool can_read_type(std::string_view saved, std::string_view own, std::string* why = nullptr);
// The same for a type of keys, or in one: where fields have names, they are the same ones.
bool can_read_key_type(std::string_view saved, std::string_view own);

// What a part of an operator's state is called, and of which type it is.
struct StateDescription {
  std::string name;
  std::string type;
  friend bool operator==(const StateDescription&, const StateDescription&) = default;
};

// Whether an operator with the states `own` reads what one with the states `saved` wrote: those of
// equal names are of types that it can read. Which ones may be missing is up to the operator.
// invalid_argument, naming state and types.
Status check_states(const std::vector<StateDescription>& saved,
                    const std::vector<StateDescription>& own);

// In front of what an operator wrote into a snapshot.
void encode_states(const std::vector<StateDescription>& states, ByteWriter& out);
[[nodiscard]] bool decode_states(ByteReader& in, std::vector<StateDescription>& states);

template <typename Form>
struct VersionedCodec {
  using Value = typename Form::Value;
  static_assert(Form::version >= 1, "versions count from 1");

  static std::string name() { return Form::name() + "@" + std::to_string(Form::version); }
  static void encode(const Value& value, ByteWriter& out) {
    out.put_value(std::uint8_t{Form::version});
    Form::encode(value, out);
  }
  static bool decode(ByteReader& in, Value& value) {
    std::uint8_t version = 0;
    return in.get_value(version) && version >= 1 && version <= Form::version &&
           Form::decode(in, value, version);
  }
};

}  // namespace hummer
