// KeyedPiece: the entries of an operator's keyed state in a piece of a snapshot, one after the
// other, as bytes with their types: those of a KeyedStore (hummer/detail/state/keyed_store.hpp) and
// of a table of accumulators.
//
//   KeyedPiece piece(in);                      // `in` at the piece's first byte
//   HUMMER_TRY(piece.open());
//   if (!piece.refusal().empty()) …            // other state, or of types that nobody else knows
//   for (…) { piece.next(key); … }
//
// Thread: one. Ownership: what next() gives lasts until the next call. Cost of next(): the entry.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hummer/bytes.hpp>
#include <hummer/evolving.hpp>
#include <hummer/status.hpp>

#include "base/type_grammar.hpp"

namespace hummer {

struct SavedKey;

class KeyedPiece {
 public:
  explicit KeyedPiece(ByteReader& in) : in_(in) {}
  KeyedPiece(const KeyedPiece&) = delete;
  KeyedPiece& operator=(const KeyedPiece&) = delete;

  Status open();
  // Why its entries can't be read; empty: they can.
  const std::string& refusal() const { return refusal_; }
  // Fills in key, states and timers. False: that was all.
  Result<bool> next(SavedKey& key);
  // Of the last one: the key is there no more.
  bool gone() const { return gone_; }
  // The section that it is in, see KeyedStoreBase: of those in the second a key does not count that
  // the first one has, or the third.
  std::size_t section() const { return section_; }

 private:
  struct State {
    std::string name;
    std::string text;  // what `type` looks at
    ParsedType type;
  };
  Status open_store();
  Status open_table();
  Status open_entries();
  Status pass_over_broadcast();
  void open_windows(std::string_view key_type);
  bool parse(std::string text, std::string& kept, ParsedType& type);
  Result<bool> next_of_store(SavedKey& key);
  Result<bool> next_of_table(SavedKey& key);

  ByteReader& in_;
  std::vector<StateDescription> described_;
  std::string refusal_;
  bool table_ = false;
  bool gone_ = false;
  std::size_t section_ = 0;
  std::string key_text_;
  ParsedType key_type_;
  std::vector<State> states_;
  std::string key_;
  std::string value_;
};

}  // namespace hummer
