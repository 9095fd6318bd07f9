#include "java_failures.hpp"

namespace hummer::hadoop {

void throw_in_java(JNIEnv* java, const std::string& message) {
  if (java->ExceptionCheck() != JNI_FALSE) return;
  jclass type = java->FindClass("java/io/IOException");
  // What could not be found is pending then.
  if (type == nullptr) return;
  java->ThrowNew(type, message.c_str());
  java->DeleteLocalRef(type);
}

}  // namespace hummer::hadoop
