// teragen --records N --output FILE [--json]
//
// Writes rows 0 … N−1 of TeraSort's input.
#include <vector>

#include "program.hpp"
#include "tera_records.hpp"

int main(int argc, char** argv) {
  const terasort::Words words(argc, argv, "teragen --records N --output FILE [--json]");
  const std::uint64_t records = words.number("records", 10'000'000);
  const double begin = terasort::seconds_now();
  const terasort::File file(words.text("output"), O_WRONLY | O_CREAT | O_TRUNC);
  terasort::RowGenerator rows(0);
  std::vector<char> buffer(10'000 * terasort::record_bytes);
  std::uint64_t offset = 0;
  for (std::uint64_t row = 0; row < records;) {
    std::size_t filled = 0;
    for (; row < records && filled < buffer.size(); ++row) {
      rows.next(buffer.data() + filled);
      filled += terasort::record_bytes;
    }
    file.write_at(offset, buffer.data(), filled);
    offset += filled;
  }
  terasort::report(words, "teragen", records, terasort::seconds_now() - begin, "", "");
  return 0;
}
