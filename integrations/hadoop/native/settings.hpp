// Settings: what a task of a job is to do, as Java tells it: texts by name.
//
//   const auto settings = Settings::of(java, names_and_values);   // String[], name, value, name, …
//   settings.text("mapper");                                      // empty where it is not there
//   settings.number("begin");
//   settings.parameters();                                        // those named define.NAME
//
// The names are those that hummer.hadoop.TaskSettings gives. Thread: any.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <jni.h>

#include <hummer/batch/task_context.hpp>

#include "writable_form.hpp"

namespace hummer::hadoop {

class Settings {
 public:
  static Settings of(JNIEnv* java, jobjectArray names_and_values);

  const std::string& text(std::string_view name) const;
  // 0 where it is no number.
  std::uint64_t number(std::string_view name) const;
  batch::Parameters parameters() const;

 private:
  std::map<std::string, std::string, std::less<>> texts_;
};

// Of those named key_class and value_class, with the prefix in front.
RecordForms forms_of(const Settings& settings, std::string_view prefix = "");

}  // namespace hummer::hadoop
