// What the native methods of the Java classes share: handles, the platform, and registration.
//
// An object of C++ is a number in Java, its handle, from its create to its destroy.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <initializer_list>

#include <jni.h>

#include <hummer/batch/counters.hpp>
#include "platform/platform.hpp"

namespace hummer::hadoop {

// One of the process. Signals are Java's, so it takes none; and it stays, as nobody knows when the
// last task has ended.
Platform& platform();

template <typename Object>
jlong handle_of(Object* object) {
  return static_cast<jlong>(reinterpret_cast<std::uintptr_t>(object));
}

template <typename Object>
Object& object_of(jlong handle) {
  return *reinterpret_cast<Object*>(static_cast<std::uintptr_t>(handle));
}

// The native method `destroy` of a class whose handles are of such objects.
template <typename Object>
void destroy_object(JNIEnv*, jclass, jlong handle) {
  delete &object_of<Object>(handle);
}

template <typename Function>
JNINativeMethod method(const char* name, const char* signature, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function)};
}

// JNI_OK, or an exception is pending.
jint register_methods(JNIEnv* java, const char* class_name,
                      std::initializer_list<JNINativeMethod> methods);

// Of numbers, in the order that the Java side knows. Null: out of memory.
jlongArray java_longs(JNIEnv* java, std::initializer_list<std::uint64_t> numbers);

// Group, name, value, and again, as texts.
jobjectArray java_counters(JNIEnv* java, const batch::Counters& counters);

// What each file of native methods registers.
jint register_collector(JNIEnv* java);
jint register_map_task(JNIEnv* java);
jint register_reduce_task(JNIEnv* java);
jint register_merge(JNIEnv* java);

}  // namespace hummer::hadoop
