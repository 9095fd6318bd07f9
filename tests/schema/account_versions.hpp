// A year of one type: Account as ten versions of a job have it, what they do to it, and a model
// that knows nothing of codecs.
//
//   version   what changes
//   1         id u16, cents i32, note, rate f32
//   2         + frozen, + visits u8
//   3         cents i32 → i64, rate f32 → f64
//   4         all change places
//   5         − note, visits u8 → u16
//   6         rate is called fee: it begins anew
//   7         id u16 → u32, + tags
//   8         + note again, with another initialiser; + home, a named type
//   9         home: + city, number u8 → i32, and changes places
//   10        − frozen, − tags, id u32 → i64, visits u16 → u64, + last, an optional of one
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/hummer.hpp>

namespace hummer::schema {

constexpr int versions = 10;

template <int version>
struct Address {
  static constexpr std::string_view evolving = "bank.Address";
  static constexpr auto fields = hummer::fields("street", "number");
  std::string street = "Main";
  std::uint8_t number = 1;
};
template <int version>
  requires(version >= 9)
struct Address<version> {
  static constexpr std::string_view evolving = "bank.Address";
  static constexpr auto fields = hummer::fields("city", "number", "street");
  std::string city = "Ulm";
  std::int32_t number = 1;
  std::string street = "Main";
};

template <int version>
struct Account;

template <>
struct Account<1> {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("id", "cents", "note", "rate");
  std::uint16_t id = 0;
  std::int32_t cents = 0;
  std::string note = "new";
  float rate = 1;
};
template <>
struct Account<2> {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("id", "cents", "note", "rate", "frozen", "visits");
  std::uint16_t id = 0;
  std::int32_t cents = 0;
  std::string note = "new";
  float rate = 1;
  bool frozen = true;
  std::uint8_t visits = 3;
};
template <>
struct Account<3> {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("id", "cents", "note", "rate", "frozen", "visits");
  std::uint16_t id = 0;
  std::int64_t cents = 0;
  std::string note = "new";
  double rate = 1;
  bool frozen = true;
  std::uint8_t visits = 3;
};
template <>
struct Account<4> {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("visits", "frozen", "rate", "note", "cents", "id");
  std::uint8_t visits = 3;
  bool frozen = true;
  double rate = 1;
  std::string note = "new";
  std::int64_t cents = 0;
  std::uint16_t id = 0;
};
template <>
struct Account<5> {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("visits", "frozen", "rate", "cents", "id");
  std::uint16_t visits = 3;
  bool frozen = true;
  double rate = 1;
  std::int64_t cents = 0;
  std::uint16_t id = 0;
};
template <>
struct Account<6> {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("visits", "frozen", "fee", "cents", "id");
  std::uint16_t visits = 3;
  bool frozen = true;
  double fee = 2.5;
  std::int64_t cents = 0;
  std::uint16_t id = 0;
};
template <>
struct Account<7> {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("visits", "frozen", "fee", "cents", "id", "tags");
  std::uint16_t visits = 3;
  bool frozen = true;
  double fee = 2.5;
  std::int64_t cents = 0;
  std::uint32_t id = 0;
  std::vector<std::string> tags = std::vector<std::string>(1, "none");
};
template <int version>
  requires(version == 8 || version == 9)
struct Account<version> {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields =
      hummer::fields("visits", "frozen", "fee", "cents", "id", "tags", "note", "home");
  std::uint16_t visits = 3;
  bool frozen = true;
  double fee = 2.5;
  std::int64_t cents = 0;
  std::uint32_t id = 0;
  std::vector<std::string> tags = std::vector<std::string>(1, "none");
  std::string note = "again";
  Address<version> home;
};
template <>
struct Account<10> {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields =
      hummer::fields("note", "home", "visits", "fee", "cents", "id", "last");
  std::string note = "again";
  Address<10> home;
  std::uint64_t visits = 3;
  double fee = 2.5;
  std::int64_t cents = 0;
  std::int64_t id = 0;
  std::optional<Address<10>> last;
};

// What a record of the number `i` does to an account, of any version or of the model, where that
// has the field.
template <typename A>
void touch(A& account, std::uint64_t key, std::uint64_t i) {
  if constexpr (requires { account.id; }) {
    if (account.id == 0) account.id = static_cast<decltype(account.id)>(40'000 + key);
  }
  if constexpr (requires { account.cents; }) {
    account.cents += static_cast<decltype(account.cents)>(i) - 700;
  }
  if constexpr (requires { account.note; }) {
    if (account.note.size() < 9) account.note += static_cast<char>('a' + i % 26);
  }
  if constexpr (requires { account.rate; }) account.rate += 0.5F;
  if constexpr (requires { account.frozen; }) account.frozen = account.frozen != (i % 3 == 0);
  if constexpr (requires { account.visits; }) {
    account.visits = static_cast<decltype(account.visits)>((account.visits + 1) % 200);
  }
  if constexpr (requires { account.fee; }) account.fee += 0.25;
  if constexpr (requires { account.tags; }) {
    if (account.tags.size() < 4) account.tags.push_back(std::to_string(i));
  }
  if constexpr (requires { account.home; }) {
    account.home.number =
        static_cast<decltype(account.home.number)>((account.home.number + 1) % 99);
    if (account.home.street.size() < 8) account.home.street += 's';
    if constexpr (requires { account.home.city; }) {
      if (account.home.city.size() < 9) account.home.city += 'c';
    }
  }
  if constexpr (requires { account.last; }) {
    account.last = account.home;
    account.last->street = "last";
  }
}

// All fields by name, in its order.
using Fields = std::map<std::string, std::string>;

template <typename A>
void fields_of_address(const A& address, const std::string& prefix, Fields& all) {
  all[prefix + ".street"] = address.street;
  all[prefix + ".number"] = std::to_string(address.number);
  if constexpr (requires { address.city; }) all[prefix + ".city"] = address.city;
}
template <typename A>
Fields fields_of(const A& account) {
  Fields all;
  if constexpr (requires { account.id; }) all["id"] = std::to_string(account.id);
  if constexpr (requires { account.cents; }) all["cents"] = std::to_string(account.cents);
  if constexpr (requires { account.note; }) all["note"] = account.note;
  if constexpr (requires { account.rate; }) {
    all["rate"] = std::to_string(static_cast<double>(account.rate));
  }
  if constexpr (requires { account.frozen; }) all["frozen"] = account.frozen ? "yes" : "no";
  if constexpr (requires { account.visits; }) all["visits"] = std::to_string(account.visits);
  if constexpr (requires { account.fee; }) all["fee"] = std::to_string(account.fee);
  if constexpr (requires { account.tags; }) {
    std::string& tags = all["tags"];
    for (const std::string& tag : account.tags) tags += tag + ";";
  }
  if constexpr (requires { account.home; }) fields_of_address(account.home, "home", all);
  if constexpr (requires { account.last; }) {
    if (account.last) fields_of_address(*account.last, "last", all);
  }
  return all;
}

inline std::string text_of(const Fields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) text += name + "=" + value + " ";
  return text;
}

// Every field that there ever was, as wide as it became.
struct EveryAccount {
  struct Home {
    std::string street = "Main";
    std::int64_t number = 1;
    std::string city = "Ulm";
  };
  std::int64_t id = 0;
  std::int64_t cents = 0;
  std::string note = "new";
  double rate = 1;
  bool frozen = true;
  std::uint64_t visits = 3;
  double fee = 2.5;
  std::vector<std::string> tags = std::vector<std::string>(1, "none");
  Home home;
  std::optional<Home> last;
};

// When a field came, and went: from version, to before version.
struct Life {
  int from;
  int until;
};
inline bool lives(std::initializer_list<Life> lives, int version) {
  for (const Life& life : lives) {
    if (version >= life.from && version < life.until) return true;
  }
  return false;
}

// An account as a job would have it that is taken through versions.
class Model {
 public:
  void become(int version) {
    const EveryAccount fresh;
    const auto keep = [&](std::initializer_list<Life> life, auto& field, const auto& initial) {
      if (!lives(life, version_) || !lives(life, version)) field = initial;
    };
    keep({{1, 5}, {8, 11}}, account_.note, version < 8 ? fresh.note : std::string("again"));
    keep({{1, 6}}, account_.rate, fresh.rate);
    keep({{2, 10}}, account_.frozen, fresh.frozen);
    keep({{2, 11}}, account_.visits, fresh.visits);
    keep({{6, 11}}, account_.fee, fresh.fee);
    keep({{7, 10}}, account_.tags, fresh.tags);
    keep({{8, 11}}, account_.home, fresh.home);
    keep({{9, 11}}, account_.home.city, fresh.home.city);
    keep({{10, 11}}, account_.last, fresh.last);
    version_ = version;
  }
  void touch(std::uint64_t key, std::uint64_t i) { schema::touch(account_, key, i); }
  // Those that its version has.
  Fields fields() const {
    Fields all = fields_of(account_);
    if (!lives({{1, 5}, {8, 11}}, version_)) all.erase("note");
    if (!lives({{1, 6}}, version_)) all.erase("rate");
    if (!lives({{2, 10}}, version_)) all.erase("frozen");
    if (version_ < 2) all.erase("visits");
    if (version_ < 6) all.erase("fee");
    if (!lives({{7, 10}}, version_)) all.erase("tags");
    if (version_ < 8) {
      all.erase("home.street");
      all.erase("home.number");
    }
    if (version_ < 9) all.erase("home.city");
    if (version_ < 10) {
      std::erase_if(all, [](const auto& field) { return field.first.starts_with("last."); });
    }
    return all;
  }

 private:
  int version_ = 0;
  EveryAccount account_;
};

}  // namespace hummer::schema
