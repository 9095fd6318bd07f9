#include "settings.hpp"

#include <charconv>

#include "java_calls.hpp"

namespace hummer::hadoop {
namespace {

constexpr std::string_view parameter_prefix = "define.";

std::string element_of(JNIEnv* java, jobjectArray texts, jsize at) {
  const LocalReference<jstring> text(java,
                                     static_cast<jstring>(java->GetObjectArrayElement(texts, at)));
  return text_of(java, text.get());
}

}  // namespace

Settings Settings::of(JNIEnv* java, jobjectArray names_and_values) {
  Settings settings;
  const jsize count = java->GetArrayLength(names_and_values);
  for (jsize i = 0; i + 1 < count; i += 2) {
    settings.texts_[element_of(java, names_and_values, i)] =
        element_of(java, names_and_values, i + 1);
  }
  return settings;
}

const std::string& Settings::text(std::string_view name) const {
  static const std::string none;
  const auto found = texts_.find(name);
  return found == texts_.end() ? none : found->second;
}

std::uint64_t Settings::number(std::string_view name) const {
  const std::string& digits = text(name);
  std::uint64_t number = 0;
  static_cast<void>(std::from_chars(digits.data(), digits.data() + digits.size(), number));
  return number;
}

batch::Parameters Settings::parameters() const {
  batch::Parameters parameters;
  for (auto at = texts_.lower_bound(parameter_prefix);
       at != texts_.end() && at->first.starts_with(parameter_prefix); ++at) {
    parameters.emplace(at->first.substr(parameter_prefix.size()), at->second);
  }
  return parameters;
}

RecordForms forms_of(const Settings& settings, std::string_view prefix) {
  const std::string start(prefix);
  return {writable_form_of(settings.text(start + "key_class")),
          writable_form_of(settings.text(start + "value_class"))};
}

}  // namespace hummer::hadoop
