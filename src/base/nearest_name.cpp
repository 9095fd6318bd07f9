#include "base/nearest_name.hpp"

#include <algorithm>
#include <vector>

namespace hummer {
namespace {

// Longer ones are no misspellings, and the distance takes the product of both lengths.
constexpr std::size_t longest_name = 128;
constexpr std::size_t most_mistakes = 3;

// Optimal string alignment: Levenshtein's distance, where swapped neighbours are one mistake.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > longest_name) return {};
  std::string nearest;
  std::size_t least = most_mistakes + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t mistakes = distance(name, candidate);
    const std::size_t allowed = std::max<std::size_t>(1, (candidate.size() + 2) / 3);
    if (mistakes > allowed || mistakes >= least) continue;
    least = mistakes;
    nearest = candidate;
  }
  return nearest;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates,
                       std::string_view before, std::string_view after) {
  const std::string nearest = nearest_name(name, candidates);
  if (nearest.empty()) return {};
  return ", did you mean " + std::string(before) + nearest + std::string(after) + "?";
}

}  // namespace hummer
