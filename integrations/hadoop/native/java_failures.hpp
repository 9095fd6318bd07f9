// How failures pass from C++ to Java: as java.io.IOException, with the message of the Status.
//
//   return guarded(java, [&] { return collector->collect(...); });   // true: it went well
//
// Nothing else crosses: what C++ throws is caught here and becomes one, too. When guarded() says
// false an exception is pending in Java, so that the caller returns at once.
//
// Thread: that of `java`.
#pragma once

#include <exception>
#include <string>

#include <jni.h>

#include <hummer/status.hpp>

namespace hummer::hadoop {

// Makes the exception pending, unless there is one already.
void throw_in_java(JNIEnv* java, const std::string& message);

template <typename Function>
bool guarded(JNIEnv* java, Function&& function) {
  try {
    const Status status = function();
    if (status.ok()) return true;
    throw_in_java(java, status.to_string());
  } catch (const std::exception& failure) {
    throw_in_java(java, failure.what());
  } catch (...) {
    throw_in_java(java, "an exception of unknown type");
  }
  return false;
}

}  // namespace hummer::hadoop
