// The library shows JNI_OnLoad to Java, which registers all native methods: where the Java classes
// are of another version that fails, and Java loads nothing.
#include "library.hpp"

#include <string>
#include <vector>

#include "java_calls.hpp"

namespace hummer::hadoop {

Platform& platform() {
  static Platform& one =
      *make_linux_platform({.guard_mappings = false, .ignore_broken_pipes = false}).release();
  return one;
}

jint register_methods(JNIEnv* java, const char* class_name,
                      std::initializer_list<JNINativeMethod> methods) {
  const LocalReference<jclass> type(java, java->FindClass(class_name));
  if (type.get() == nullptr) return JNI_ERR;
  return java->RegisterNatives(type.get(), methods.begin(), static_cast<jint>(methods.size()));
}

jlongArray java_longs(JNIEnv* java, std::initializer_list<std::uint64_t> numbers) {
  const std::vector<jlong> values(numbers.begin(), numbers.end());
  const auto count = static_cast<jsize>(values.size());
  jlongArray array = java->NewLongArray(count);
  if (array != nullptr) java->SetLongArrayRegion(array, 0, count, values.data());
  return array;
}

jobjectArray java_counters(JNIEnv* java, const batch::Counters& counters) {
  std::vector<std::string> texts;
  for (const auto& [group, of_group] : counters.groups()) {
    for (const auto& [name, counter] : of_group) {
      texts.insert(texts.end(), {group, name, std::to_string(counter.value())});
    }
  }
  const LocalReference<jclass> type(java, java->FindClass("java/lang/String"));
  if (type.get() == nullptr) return nullptr;
  jobjectArray array = java->NewObjectArray(static_cast<jsize>(texts.size()), type.get(), nullptr);
  for (std::size_t i = 0; array != nullptr && i < texts.size(); ++i) {
    const LocalReference<jstring> text(java, java_text(java, texts[i]));
    if (text.get() == nullptr) return nullptr;
    java->SetObjectArrayElement(array, static_cast<jsize>(i), text.get());
  }
  return array;
}

}  // namespace hummer::hadoop

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* machine, void*) {
  constexpr jint version = JNI_VERSION_1_8;
  void* found = nullptr;
  if (machine->GetEnv(&found, version) != JNI_OK) return JNI_ERR;
  auto* const java = static_cast<JNIEnv*>(found);
  hummer::hadoop::set_java_machine(machine);
  for (const auto register_class :
       {hummer::hadoop::register_collector, hummer::hadoop::register_map_task,
        hummer::hadoop::register_reduce_task, hummer::hadoop::register_merge}) {
    if (register_class(java) != JNI_OK) return JNI_ERR;
  }
  return version;
}
