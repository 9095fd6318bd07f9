// What calls between C++ and Java need: this thread's JNIEnv, objects that are held, and texts.
//
//   JavaObject stream(java, object, "read", "(JLjava/nio/ByteBuffer;)I");   // and one method of it
//   Result<jint> got = stream.call_with_room(offset, room, size);
//
// Texts are UTF-8 here, and what Java has there: neither its modified UTF-8 nor bytes that are no
// text get through to the other side.
//
// Thread: any that Java has made; an object is used by one at a time.
#pragma once

#include <string>
#include <string_view>

#include <jni.h>

#include <hummer/status.hpp>

namespace hummer::hadoop {

// Once, when the library is loaded.
void set_java_machine(JavaVM* machine);
// Of the calling thread, which is one of Java's.
JNIEnv* java_here();

// Null: the empty text.
std::string text_of(JNIEnv* java, jstring text);
// Bytes that are no UTF-8 become U+FFFD. Null: out of memory, and the exception is pending.
jstring java_text(JNIEnv* java, std::string_view text);

// The bytes of a direct buffer, all of it or its first so many. Failures: internal.
Result<std::string_view> bytes_of_buffer(JNIEnv* java, jobject buffer);
Result<std::string_view> bytes_of_buffer(JNIEnv* java, jobject buffer, jint size_bytes);

// A local reference, given back with its scope: loops of calls would pile them up.
template <typename Reference>
class LocalReference {
 public:
  LocalReference(JNIEnv* java, Reference reference) : java_(java), reference_(reference) {}
  ~LocalReference() {
    if (reference_ != nullptr) java_->DeleteLocalRef(reference_);
  }
  LocalReference(const LocalReference&) = delete;
  LocalReference& operator=(const LocalReference&) = delete;
  Reference get() const { return reference_; }

 private:
  JNIEnv* const java_;
  const Reference reference_;
};

// An object of Java's that is held, and one of its methods.
class JavaObject {
 public:
  // Where Java has no such method an exception is pending, and each call fails.
  JavaObject(JNIEnv* java, jobject object, const char* method, const char* signature);
  ~JavaObject();
  JavaObject(const JavaObject&) = delete;
  JavaObject& operator=(const JavaObject&) = delete;

  // Calls with a direct buffer over the bytes. Failed: an exception is pending.
  Status call_with_bytes(std::string_view bytes);
  Result<jint> call_with_room(jlong number, char* room, std::size_t size_bytes);
  // The bytes of the direct buffer that the method returns, which the object holds.
  Result<std::string_view> exchange_bytes(std::string_view bytes);
  Result<std::string_view> call_for_bytes();

 private:
  bool may_call(JNIEnv* java) const;

  jobject object_ = nullptr;
  jmethodID method_ = nullptr;
};

}  // namespace hummer::hadoop
