// The worked example of docs/state_without_a_job.md.
#pragma once

#include <istream>
#include <string>

#include <hummer/savepoint.hpp>

namespace hummer::repaired_state {

struct Account {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("cents", "owner");
  std::int64_t cents = 0;
  std::string owner = "nobody";
};

// The states of the job's function "accounts", which is keyed by a number.
struct Accounts {
  ValueState<Account> account{"account"};
};
using Edit = SavepointEdit<std::uint64_t, Accounts>;

// A record was counted twice for account 42: gives it back, and drops accounts that are empty.
inline Status repair(const std::string& from, const std::string& to, Platform* platform = nullptr) {
  auto edit = Edit::open(from, "accounts", platform);
  if (!edit.ok()) return edit.status();
  (*edit)->at(42).account.update({}, [](Account& account) { account.cents -= 700; });
  (*edit)->for_each([](const std::uint64_t&, Accounts& accounts) {
    const Account* const account = accounts.account.find();
    if (account != nullptr && account->cents == 0) accounts.account.clear();
  });
  return (*edit)->write(to);
}

// Another system's accounts, a line "NUMBER CENTS OWNER" for each, in the place of all that the
// savepoint has of the function.
inline Status fill(const std::string& from, std::istream& lines, const std::string& to,
                   Platform* platform = nullptr) {
  auto edit = Edit::replace(from, "accounts", platform);
  if (!edit.ok()) return edit.status();
  std::uint64_t number = 0;
  Account account;
  while (lines >> number >> account.cents >> account.owner) {
    (*edit)->at(number).account.set(account);
  }
  return (*edit)->write(to);
}

}  // namespace hummer::repaired_state
