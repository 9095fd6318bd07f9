// CsvDecoder: rows to records, on the contract of hummer/formats/format.hpp; made by csv().
//
// A chunk of the buffer is indexed (csv_index.hpp). Each column knows which field it goes to, and
// of which kind that is. Where all rows of a chunk have their columns and nothing is in quotes,
// which is usual, one column is read after the other, each by a loop of its own for all rows, and
// numbers eight at once (csv_numbers.hpp); else, and where a value turns out to be none, row by
// row, which also finds the first mistake and names it. A chunk is some tens of kilobytes, so that
// text and index are in cache; a longer row makes it grow.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/csv.hpp>

#include "csv_index.hpp"
#include "csv_numbers.hpp"
#include "time_form.hpp"

namespace hummer::formats {

class CsvDecoder final : public Decoder {
 public:
  CsvDecoder(const RecordShape& shape, const CsvOptions& options);

  Status begin(const TextBlock& block, std::size_t& at) override;
  Outcome decode(std::string_view text, std::size_t& at, Batch& batch, std::size_t limit) override;
  std::size_t end_of_record(std::string_view text, std::size_t at) const override;

 private:
  // What becomes of a column of the input.
  struct Column {
    // Kinds that no column has as they are.
    static constexpr ValueKind skipped = ValueKind::record;
    static constexpr ValueKind time = ValueKind::list;
    ValueKind kind = skipped;
    bool optional = false;
    std::uint32_t offset = 0;           // of the field in the record
    const ValueShape* value = nullptr;  // of the field
    const TimeForm* form = nullptr;     // of a time
    std::string_view name;
  };
  // What of a chunk is common to its fields.
  struct Chunk {
    const char* text;      // of the chunk
    std::size_t readable;  // bytes before it in the buffer
    Batch& batch;
  };

  Status bind(const std::vector<std::string>& names, const std::string& origin);
  Column column_of(std::size_t field) const;
  void reserve(std::size_t chunk_bytes);
  bool has_plain_rows(const Chunk& chunk) const;
  // The first rows of a chunk of plain ones; false: some value is none, and the fields are as good
  // as not put.
  bool put_columns(const Chunk& chunk, char* records, std::size_t rows);
  bool put_column(const Chunk& chunk, std::size_t index, char* records, std::size_t rows);
  // A column of the plain kind that `read` is for, which may be none.
  template <ValueKind kind>
  bool put_numbers(const Chunk& chunk, CsvFields column, CsvNumberReader read) const;
  // The row whose borders begin at `border`; false: why_ says what is wrong with it.
  bool put_row(const Chunk& chunk, char* record, std::uint32_t begin, const std::uint32_t* border,
               const std::uint32_t* last_border);
  bool put(const Chunk& chunk, const Column& column, char* record, std::uint32_t begin,
           std::uint32_t end);
  bool put_quoted(const Chunk& chunk, const Column& column, char* field, std::uint32_t begin,
                  std::uint32_t end);
  bool put_plain(const Chunk& chunk, const Column& column, ValueKind kind, void* field,
                 std::uint32_t begin, std::uint32_t end);
  bool any_quote(std::uint32_t begin, std::uint32_t end) const;
  bool not_a_value(const Column& column, std::string_view text);
  bool wrong_count(std::size_t fields);

  const RecordShape& shape_;
  const CsvOptions options_;
  const BoundTimes times_;
  const CsvMarks marks_;
  const CsvIndexer index_;
  const CsvNumberReaders numbers_;
  std::vector<Column> columns_;
  // Where the columns are from: the name of the input whose header was read.
  bool bound_ = false;
  std::string origin_;

  CsvIndex found_;
  std::unique_ptr<std::uint32_t[]> positions_;  // one ahead of found_.positions
  std::unique_ptr<std::uint64_t[]> quotes_;
  std::size_t room_ = 0;  // of a chunk, in bytes
  // Not for the chunk behind one with a mistake, which may have more of them.
  bool by_columns_ = true;
};

}  // namespace hummer::formats
