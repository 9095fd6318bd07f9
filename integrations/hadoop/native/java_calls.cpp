#include "java_calls.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace hummer::hadoop {
namespace {

constexpr char32_t replacement = 0xFFFD;

JavaVM* the_machine = nullptr;

Status pending_failure() { return {ErrorCode::user_function_failed, "a call into Java failed"}; }

Status fits_a_buffer(std::string_view bytes) {
  constexpr std::size_t most = std::numeric_limits<jint>::max();
  if (bytes.size() <= most) return Status();
  return {ErrorCode::limit_exceeded,
          "a record has more bytes than Java takes: " + std::to_string(bytes.size())};
}

jobject buffer_over(JNIEnv* java, std::string_view bytes) {
  return java->NewDirectByteBuffer(const_cast<char*>(bytes.data()),
                                   static_cast<jlong>(bytes.size()));
}

Result<std::string_view> bytes_returned(JNIEnv* java, jobject returned) {
  const LocalReference<jobject> buffer(java, returned);
  if (java->ExceptionCheck() != JNI_FALSE) return pending_failure();
  return bytes_of_buffer(java, buffer.get());
}

// The character at the front of `text`, which is made shorter by it.
char32_t take_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0x80       ? 1
                           : lead >> 5 == 6  ? 2
                           : lead >> 4 == 14 ? 3
                           : lead >> 3 == 30 ? 4
                                             : 0;
  if (size <= 1 || text.size() < size) {
    text.remove_prefix(1);
    return size == 1 ? lead : replacement;
  }
  char32_t character = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if (next >> 6 != 2) {
      text.remove_prefix(1);
      return replacement;
    }
    character = character << 6 | (next & 0x3FU);
  }
  text.remove_prefix(size);
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xD800 && character < 0xE000;
  return character < smallest[size] || is_surrogate || character > 0x10FFFF ? replacement
                                                                            : character;
}

void append_utf8(char32_t character, std::string& text) {
  const auto tail = [&](unsigned shift) {
    text.push_back(static_cast<char>(0x80 | (character >> shift & 0x3F)));
  };
  if (character < 0x80) {
    text.push_back(static_cast<char>(character));
  } else if (character < 0x800) {
    text.push_back(static_cast<char>(0xC0 | character >> 6));
    tail(0);
  } else if (character < 0x10000) {
    text.push_back(static_cast<char>(0xE0 | character >> 12));
    tail(6);
    tail(0);
  } else {
    text.push_back(static_cast<char>(0xF0 | character >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

void set_java_machine(JavaVM* machine) { the_machine = machine; }

JNIEnv* java_here() {
  void* java = nullptr;
  HUMMER_ASSERT(the_machine->GetEnv(&java, JNI_VERSION_1_8) == JNI_OK);
  return static_cast<JNIEnv*>(java);
}

std::string text_of(JNIEnv* java, jstring text) {
  if (text == nullptr) return {};
  std::vector<jchar> units(static_cast<std::size_t>(java->GetStringLength(text)));
  java->GetStringRegion(text, 0, static_cast<jsize>(units.size()), units.data());
  std::string copy;
  for (std::size_t i = 0; i < units.size(); ++i) {
    char32_t character = units[i];
    if (character >= 0xD800 && character < 0xE000) {
      const bool is_pair = character < 0xDC00 && i + 1 < units.size() && units[i + 1] >= 0xDC00 &&
                           units[i + 1] < 0xE000;
      character =
          is_pair ? 0x10000 + ((character - 0xD800) << 10) + (units[++i] - 0xDC00U) : replacement;
    }
    append_utf8(character, copy);
  }
  return copy;
}

jstring java_text(JNIEnv* java, std::string_view text) {
  std::vector<jchar> units;
  units.reserve(text.size());
  while (!text.empty()) {
    char32_t character = take_character(text);
    if (character >= 0x10000) {
      character -= 0x10000;
      units.push_back(static_cast<jchar>(0xD800 + (character >> 10)));
      character = 0xDC00 + (character & 0x3FF);
    }
    units.push_back(static_cast<jchar>(character));
  }
  return java->NewString(units.data(), static_cast<jsize>(units.size()));
}

Result<std::string_view> bytes_of_buffer(JNIEnv* java, jobject buffer) {
  const void* const address = buffer == nullptr ? nullptr : java->GetDirectBufferAddress(buffer);
  const jlong capacity = address == nullptr ? -1 : java->GetDirectBufferCapacity(buffer);
  if (capacity < 0) return Status(ErrorCode::internal, "a buffer of Java's is no direct one");
  return std::string_view(static_cast<const char*>(address), static_cast<std::size_t>(capacity));
}

Result<std::string_view> bytes_of_buffer(JNIEnv* java, jobject buffer, jint size_bytes) {
  const auto all = bytes_of_buffer(java, buffer);
  if (!all.ok()) return all;
  if (size_bytes < 0 || static_cast<std::size_t>(size_bytes) > all->size()) {
    return Status(ErrorCode::internal, "a buffer of Java's is smaller than what is to be in it");
  }
  return all->substr(0, static_cast<std::size_t>(size_bytes));
}

JavaObject::JavaObject(JNIEnv* java, jobject object, const char* method, const char* signature)
    : object_(java->NewGlobalRef(object)) {
  if (object_ == nullptr) return;
  const LocalReference<jclass> type(java, java->GetObjectClass(object));
  method_ = java->GetMethodID(type.get(), method, signature);
}

JavaObject::~JavaObject() {
  if (object_ != nullptr) java_here()->DeleteGlobalRef(object_);
}

// Nothing is called while an exception is pending: an author's code may go on after a failure.
bool JavaObject::may_call(JNIEnv* java) const {
  return method_ != nullptr && java->ExceptionCheck() == JNI_FALSE;
}

Status JavaObject::call_with_bytes(std::string_view bytes) {
  JNIEnv* const java = java_here();
  if (!may_call(java)) return pending_failure();
  HUMMER_TRY(fits_a_buffer(bytes));
  const LocalReference<jobject> buffer(java, buffer_over(java, bytes));
  if (buffer.get() == nullptr) return pending_failure();
  java->CallVoidMethod(object_, method_, buffer.get());
  return java->ExceptionCheck() != JNI_FALSE ? pending_failure() : Status();
}

Result<jint> JavaObject::call_with_room(jlong number, char* room, std::size_t size_bytes) {
  JNIEnv* const java = java_here();
  if (!may_call(java)) return pending_failure();
  constexpr std::size_t most = std::numeric_limits<jint>::max();
  const auto room_bytes = static_cast<jlong>(size_bytes < most ? size_bytes : most);
  const LocalReference<jobject> buffer(java, java->NewDirectByteBuffer(room, room_bytes));
  if (buffer.get() == nullptr) return pending_failure();
  const jint answer = java->CallIntMethod(object_, method_, number, buffer.get());
  if (java->ExceptionCheck() != JNI_FALSE) return pending_failure();
  if (answer < 0 || answer > room_bytes) {
    return Status(ErrorCode::internal, "Java has read more than there is room for");
  }
  return answer;
}

Result<std::string_view> JavaObject::exchange_bytes(std::string_view bytes) {
  JNIEnv* const java = java_here();
  if (!may_call(java)) return pending_failure();
  HUMMER_TRY(fits_a_buffer(bytes));
  const LocalReference<jobject> buffer(java, buffer_over(java, bytes));
  if (buffer.get() == nullptr) return pending_failure();
  return bytes_returned(java, java->CallObjectMethod(object_, method_, buffer.get()));
}

Result<std::string_view> JavaObject::call_for_bytes() {
  JNIEnv* const java = java_here();
  if (!may_call(java)) return pending_failure();
  return bytes_returned(java, java->CallObjectMethod(object_, method_));
}

}  // namespace hummer::hadoop
