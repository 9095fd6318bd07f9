// The names of types as GCC spells them, for programs that Clang compiles.
//
// Uids that are generated and the types that a snapshot names are of such names, and a job goes on
// with what it has written when another compiler has compiled it. Clang's own spelling of a type
// has what its author wrote, but for scopes that it leaves out: inline namespaces and functions.
// The mangled name has all scopes, and arguments that are left to their defaults too. So both are
// read, and walked from behind, component by component.
#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/codec.hpp>

namespace hummer::detail {
namespace {

struct SpelledType;

struct Component {
  std::string name;
  bool is_template = false;
  std::vector<SpelledType> arguments;
  bool is_function = false;
  std::vector<SpelledType> parameters;
  std::string qualifiers;  // of a function: " const"
};

// A type, or where `path` is empty a value, which is `behind` alone.
struct SpelledType {
  std::string ahead;  // "const "
  std::vector<Component> path;
  std::string behind;  // such as " const&" or " *"
};

constexpr std::array<std::string_view, 10> number_words = {
    "unsigned", "signed", "long", "short", "int", "char", "double", "float", "bool", "__int128"};

bool is_number_word(std::string_view word) {
  for (const std::string_view each : number_words) {
    if (each == word) return true;
  }
  return false;
}

constexpr std::string_view nameless = "(anonymous namespace)";
constexpr std::string_view clang_lambda = "(lambda at ";
constexpr std::string_view mangled_lambda = "{lambda(";

class SpellingReader {
 public:
  explicit SpellingReader(std::string_view text) : text_(text) {}

  SpelledType type() {
    SpelledType read;
    while (take("const ") || take("volatile ")) read.ahead = "const ";
    if (!begins_value()) {
      do {
        read.path.push_back(component());
      } while (take("::"));
    }
    read.behind = std::string(rest_of_argument());
    return read;
  }
  bool ended() const { return at_ == text_.size(); }

 private:
  std::string_view left() const { return text_.substr(at_); }
  char next() const { return ended() ? '\0' : text_[at_]; }
  bool take(std::string_view what) {
    if (!left().starts_with(what)) return false;
    at_ += what.size();
    return true;
  }
  bool begins_value() const {
    if (next() == '(') return !left().starts_with(nameless) && !left().starts_with(clang_lambda);
    return std::isdigit(static_cast<unsigned char>(next())) != 0 ||
           std::string_view("-'\"&").find(next()) != std::string_view::npos;
  }
  std::string_view word() {
    const std::size_t begin = at_;
    while (std::isalnum(static_cast<unsigned char>(next())) != 0 || next() == '_' ||
           next() == '$') {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  // To the comma or bracket that ends it.
  std::string_view rest_of_argument() {
    const std::size_t begin = at_;
    for (int depth = 0; !ended(); ++at_) {
      const char c = next();
      if (depth == 0 && std::string_view(",>)}").find(c) != std::string_view::npos) break;
      if (std::string_view("<({[").find(c) != std::string_view::npos) ++depth;
      if (std::string_view(">)}]").find(c) != std::string_view::npos) --depth;
    }
    return text_.substr(begin, at_ - begin);
  }
  std::vector<SpelledType> types_until(char end) {
    std::vector<SpelledType> types;
    while (!ended() && next() != end) {
      const std::size_t begin = at_;
      types.push_back(type());
      take(", ");
      if (at_ == begin) break;  // another bracket than the one that is open
    }
    if (!ended()) ++at_;
    return types;
  }
  Component component() {
    Component read;
    if (take(nameless)) {
      read.name = "{anonymous}";
    } else if (take(clang_lambda)) {
      read.name = "<lambda>";
      (void)rest_of_argument();
      take(")");
    } else if (take(mangled_lambda)) {  // "{lambda(int)#1}"
      read.name = "<lambda>";
      read.is_function = true;
      read.parameters = types_until(')');
      (void)rest_of_argument();
      take("}");
    } else if (take("operator()")) {
      read.name = "operator()";
    } else {
      read.name = word();
      while (is_number_word(read.name.substr(read.name.rfind(' ') + 1)) && next() == ' ') {
        const std::size_t before = at_++;
        const std::string_view more = word();
        if (!is_number_word(more)) {
          at_ = before;
          break;
        }
        (read.name += ' ') += more;
      }
    }
    // Of what has a std::string in its type: "[abi:cxx11]".
    if (left().starts_with("[abi:")) at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
    if (take("<")) {
      read.is_template = true;
      read.arguments = types_until('>');
    }
    read_call(read);
    return read;
  }
  // Of a function in which the type that follows is; a function's type is nobody's scope.
  void read_call(Component& read) {
    const std::size_t begin = at_;
    if (!take("(")) return;
    std::vector<SpelledType> parameters = types_until(')');
    const bool is_const = take(" const");
    if (!left().starts_with("::")) {
      at_ = begin;
      return;
    }
    read.is_function = true;
    read.parameters = std::move(parameters);
    if (is_const) read.qualifiers = " const";
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string number_as_gcc(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> differing = {{
      {"long", "long int"},
      {"unsigned long", "long unsigned int"},
      {"short", "short int"},
      {"unsigned short", "short unsigned int"},
      {"long long", "long long int"},
      {"unsigned long long", "long long unsigned int"},
      {"unsigned __int128", "__int128 unsigned"},
  }};
  for (const auto& [clang, gcc] : differing) {
    if (clang == name) return std::string(gcc);
  }
  return name;
}

std::string to_text(const SpelledType& type);

std::string in_a_list(std::string all, const std::string& next) {
  return all.empty() ? next : std::move(all) + ", " + next;
}

std::string call_text(const Component& function) {
  std::string all;
  for (const SpelledType& parameter : function.parameters) {
    all = in_a_list(std::move(all), to_text(parameter));
  }
  return '(' + all + ')';
}

// `arguments`: what stands between its brackets.
std::string to_text(const Component& component, const std::string& arguments) {
  std::string text = number_as_gcc(component.name);
  if (component.name == "<lambda>" && component.is_function) {
    return "<lambda" + call_text(component) + '>';
  }
  if (component.is_template) {
    text += '<' + arguments + (arguments.ends_with('>') ? " >" : ">");
  }
  if (component.is_function) text += call_text(component) + component.qualifiers;
  return text;
}

// What the standard library's templates are given where nothing is said.
bool is_default(const SpelledType& argument) {
  if (argument.path.size() != 2 || argument.path[0].name != "std") return false;
  constexpr std::array<std::string_view, 6> defaults = {
      "allocator", "char_traits", "less", "hash", "equal_to", "default_delete"};
  for (const std::string_view each : defaults) {
    if (argument.path[1].name == each) return true;
  }
  return false;
}

std::string to_text(const Component& component) {
  std::string arguments;
  for (const SpelledType& each : component.arguments) {
    if (!arguments.empty() && is_default(each)) continue;
    arguments = in_a_list(std::move(arguments), to_text(each));
  }
  return to_text(component, arguments);
}

// With pointers and references at the word that they belong to.
std::string with_behind(const SpelledType& type, std::string text) {
  for (const char c : type.behind) {
    const bool is_mark = c == '*' || c == '&';
    if (is_mark && text.ends_with(' ')) text.pop_back();
    if (c == 'c' && text.ends_with('*')) text += ' ';
    text += c;
  }
  return type.ahead + text;
}

std::string value_as_gcc(std::string text) {
  const bool is_number = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  while (is_number && std::string_view("uUlL").find(text.back()) != std::string_view::npos) {
    text.pop_back();
  }
  return text;
}

// A parameter of a function, of which there is the mangled name alone.
std::string to_text(const SpelledType& type) {
  if (type.path.empty()) return value_as_gcc(type.behind);
  std::string text;
  for (const Component& component : type.path) {
    text += (text.empty() ? "" : "::") + to_text(component);
  }
  if (text.starts_with("std::__cxx11::basic_string<char>")) text = "std::string";
  if (text.starts_with("std::basic_string_view<char>")) text = "std::string_view";
  constexpr std::string_view mark = " const";
  if (!type.behind.starts_with(mark)) return with_behind(type, text);
  return with_behind({"const ", {}, type.behind.substr(mark.size())}, text);
}

bool is_lambda(const Component& component) {
  return component.name == "<lambda>" || component.name.starts_with("$_");
}

// `written` by Clang, with the scopes of `whole`, which is the same type.
std::string merged(const SpelledType& written, const SpelledType& whole) {
  if (written.path.empty() || whole.path.empty()) return to_text(written);
  std::string text;
  std::size_t next = written.path.size();
  for (std::size_t i = whole.path.size(); i-- > 0;) {
    const Component& scope = whole.path[i];
    std::string spelled;
    const bool in_both = next > 0 && (written.path[next - 1].name == scope.name ||
                                      (is_lambda(written.path[next - 1]) && is_lambda(scope)));
    if (in_both) {
      const Component& own = written.path[--next];
      std::string arguments;
      for (std::size_t k = 0; k < own.arguments.size(); ++k) {
        const SpelledType& other =
            k < scope.arguments.size() ? scope.arguments[k] : own.arguments[k];
        arguments = in_a_list(std::move(arguments), merged(own.arguments[k], other));
      }
      spelled = to_text(is_lambda(own) ? scope : own, arguments);
    } else if (scope.name == "operator()" && i > 0 && is_lambda(whole.path[i - 1])) {
      spelled = "<lambda" + call_text(scope) + '>';
      --i;
    } else {
      spelled = to_text(scope);
      if (i == 0 && spelled == "main") spelled = "main()";  // which is mangled like a namespace
    }
    text = text.empty() ? spelled : spelled + "::" + text;
  }
  return with_behind(written, text);
}

}  // namespace

std::string spelled_as_gcc(std::string_view by_clang, const char* mangled) {
  int failed = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &failed), &std::free);
  SpellingReader own(by_clang);
  const SpelledType written = own.type();
  if (failed != 0 || !own.ended()) return std::string(by_clang);
  return merged(written, SpellingReader(demangled.get()).type());
}

}  // namespace hummer::detail
