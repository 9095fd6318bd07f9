// WritableForm: how the bytes that a class of Hadoop writes stand around a content.
//
// Mappers, reducers and combiners of a class library deal in contents; Hadoop stores what the
// Writable of a key's or a value's class writes. They differ where a class writes its length first:
//
//   text      Text             a vint, then the content
//   counted   BytesWritable    4 bytes, then the content
//   plain     all others       the content is what is written: 8 bytes of a LongWritable, …
//
//   const WritableForm form = writable_form_of("org.apache.hadoop.io.Text");
//   content_of(form, written);                                   // a part of the same bytes
//   char head[most_head_bytes];
//   write_head(form, content.size(), head);                      // how many bytes go in front
//
// Thread: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <hummer/batch/key_order.hpp>
#include "batch/big_endian.hpp"
#include "batch/vint.hpp"

namespace hummer::hadoop {

enum class WritableForm : std::uint8_t { plain, text, counted };

struct RecordForms {
  WritableForm key = WritableForm::plain;
  WritableForm value = WritableForm::plain;
};

// Room for write_head().
inline constexpr std::size_t most_head_bytes = batch::max_vint_bytes;

inline WritableForm writable_form_of(std::string_view class_name) {
  if (class_name == "org.apache.hadoop.io.Text") return WritableForm::text;
  if (class_name == "org.apache.hadoop.io.BytesWritable") return WritableForm::counted;
  return WritableForm::plain;
}

// No more than there is, whatever the length says: it is that of the record.
inline std::string_view content_of(WritableForm form, std::string_view written) {
  switch (form) {
    case WritableForm::text: return batch::key_form::Text::content(written);
    case WritableForm::counted: return batch::key_form::Counted::content(written);
    case WritableForm::plain: break;
  }
  return written;
}

inline std::size_t write_head(WritableForm form, std::size_t content_bytes, char* to) {
  switch (form) {
    case WritableForm::text:
      return static_cast<std::size_t>(
          batch::write_vint(to, static_cast<std::int64_t>(content_bytes)) - to);
    case WritableForm::counted:
      batch::put_big_endian(to, static_cast<std::uint32_t>(content_bytes));
      return sizeof(std::uint32_t);
    case WritableForm::plain: break;
  }
  return 0;
}

// The order of contents that agrees with one of what is written.
inline batch::KeyOrder content_order(WritableForm form, batch::KeyOrder written_order) {
  return form == WritableForm::plain ? written_order : batch::KeyOrder();
}

}  // namespace hummer::hadoop
