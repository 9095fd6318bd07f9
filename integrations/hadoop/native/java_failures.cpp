#include "java_failures.hpp"

#include "java_calls.hpp"

namespace hummer::hadoop {

void throw_in_java(JNIEnv* java, const std::string& message) {
  if (java->ExceptionCheck() != JNI_FALSE) return;
  const LocalReference<jclass> type(java, java->FindClass("java/io/IOException"));
  // What fails here is pending then.
  if (type.get() == nullptr) return;
  jmethodID constructor = java->GetMethodID(type.get(), "<init>", "(Ljava/lang/String;)V");
  if (constructor == nullptr) return;
  const LocalReference<jstring> text(java, java_text(java, message));
  if (text.get() == nullptr) return;
  const LocalReference<jobject> failure(java, java->NewObject(type.get(), constructor, text.get()));
  if (failure.get() != nullptr) java->Throw(static_cast<jthrowable>(failure.get()));
}

}  // namespace hummer::hadoop
