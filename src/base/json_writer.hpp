// JsonWriter: writes one JSON document, indented by two blanks.
//
// Names come from the job's author and may hold anything: control characters are
// escaped, and a byte that is not valid UTF-8 becomes U+FFFD, so that the output
// is always a valid document.
//
// Thread: one. Usage: begin_object(); field("a", 1); end_object(); finish().
// Unbalanced calls are our own mistake and assert.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hummer {

class JsonWriter {
 public:
  // Without a name: an element of an array, or the document itself.
  void begin_object() { open('{'); }
  void begin_object(std::string_view name) { open(name, '{'); }
  void end_object() { close('}'); }
  void begin_array(std::string_view name) { open(name, '['); }
  void end_array() { close(']'); }

  template <typename Value>
  void field(std::string_view name, const Value& value) {
    key(name);
    write(value);
  }

  template <typename Value>
  void element(const Value& value) {
    separate();
    write(value);
  }

  // REQUIRES: everything that was begun is ended.
  std::string finish() &&;

 private:
  void open(char bracket);
  void open(std::string_view name, char bracket);
  void close(char bracket);
  void separate();
  void key(std::string_view name);
  void write_text(std::string_view text);
  void write_real(double value);  // to nine digits; null: it is no number

  template <typename Value>
  void write(const Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_integral_v<Value>) {
      text_ += std::to_string(value);
    } else if constexpr (std::is_floating_point_v<Value>) {
      write_real(value);
    } else {
      write_text(value);
    }
  }
  template <typename Value>
  void write(const std::optional<Value>& value) {
    if (value) {
      write(*value);
    } else {
      text_ += "null";
    }
  }

  std::string text_;
  std::vector<bool> empty_;  // per open object or array: nothing in it yet
};

}  // namespace hummer
