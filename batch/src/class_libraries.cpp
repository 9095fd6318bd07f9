// Compiled with the generated header that defines HUMMER_BATCH_ABI.
#include "class_libraries.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/nearest_name.hpp"
#include "job_library/elf_note.hpp"
#include "job_library/engine_abi.hpp"
#include "platform/dynamic_library.hpp"

namespace hummer::batch {
namespace {

constexpr std::uint32_t batch_note_type = 2;
constexpr std::size_t most_abi_bytes = 500;  // of a foreign one, as a message shows it
constexpr std::uint64_t most_library_bytes = std::uint64_t{1} << 30;

constexpr std::string_view kind_names[] = {"mapper",        "reducer",      "combiner",
                                           "folder",        "partitioner",  "record reader",
                                           "record writer", "order of keys"};
static_assert(std::size(kind_names) == std::variant_size_v<ClassLibrary::Entry>);

std::string_view kind_of(const ClassLibrary::Entry& entry) { return kind_names[entry.index()]; }

Status check_class_library(std::string_view bytes) {
  const auto note = find_elf_note(bytes, "hummer", batch_note_type);
  if (!note.ok()) {
    if (note.status().code() != ErrorCode::not_found) {
      return note.status().with_context("this is no class library");
    }
    return Status(ErrorCode::invalid_argument,
                  "this shared library is no class library: it lacks the note that "
                  "HUMMER_BATCH_LIBRARY puts there; build it with hummer_add_batch_library");
  }
  const std::string_view abi = note->substr(0, note->find('\0'));
  const std::string own_abi = std::string(engine_abi()) + HUMMER_BATCH_ABI;
  if (abi == own_abi) return Status();
  return Status(ErrorCode::invalid_argument,
                fmt::format("this class library was built for another engine ({}), and this is {}: "
                            "build it again with the headers, compiler and flags of this engine",
                            abi.substr(0, most_abi_bytes), own_abi));
}

Result<std::string> read_library(Files& files, const std::string& path) {
  auto file = files.open_for_reading(path);
  if (!file.ok()) return file.status();
  if ((*file)->size_bytes() > most_library_bytes) {
    return Status(ErrorCode::limit_exceeded, fmt::format("'{}' is too large for a library", path));
  }
  std::string bytes(static_cast<std::size_t>((*file)->size_bytes()), '\0');
  const auto got = (*file)->read_at(0, bytes);
  if (!got.ok()) return got.status();
  bytes.resize(*got);
  return bytes;
}

}  // namespace

ClassLibraries::ClassLibraries() { HUMMER_ASSERT(add({"hummer", &add_built_in_classes}).ok()); }

Status ClassLibraries::add(const BatchLibrary& library) {
  const auto [place, is_new] = libraries_.try_emplace(library.name, library.name);
  if (!is_new) {
    return Status(ErrorCode::invalid_argument,
                  fmt::format("two libraries are called '{}'", library.name));
  }
  library.fill(place->second);
  return place->second.status();
}

Status ClassLibraries::load(Files& files, const std::string& path) {
  const auto bytes = read_library(files, path);
  if (!bytes.ok()) return bytes.status();
  if (const Status status = check_class_library(*bytes); !status.ok()) {
    return status.with_context(fmt::format("'{}'", path));
  }
  auto loaded = load_dynamic_library(*bytes, path.substr(path.rfind('/') + 1));
  if (!loaded.ok()) return loaded.status().with_context(fmt::format("'{}'", path));
  // Left loaded, and in reach, so that it does not count as leaked: objects of its classes, and
  // exceptions of its types, may be anywhere.
  static std::vector<std::unique_ptr<DynamicLibrary>>& kept =
      *new std::vector<std::unique_ptr<DynamicLibrary>>;
  kept.push_back(std::move(*loaded));
  const auto* const library =
      static_cast<const BatchLibrary*>(kept.back()->symbol("hummer_batch_library"));
  if (library == nullptr || library->fill == nullptr) {
    return Status(ErrorCode::invalid_argument,
                  fmt::format("'{}' has no classes: name them with HUMMER_BATCH_LIBRARY", path));
  }
  const Status status = add(*library);
  return status.ok() ? status : status.with_context(fmt::format("'{}'", path));
}

Result<const ClassLibrary::Entry*> ClassLibraries::find_entry(std::string_view name) const {
  const std::size_t dot = name.find('.');
  if (dot != std::string_view::npos) {
    const auto library = libraries_.find(name.substr(0, dot));
    if (library != libraries_.end()) {
      const auto found = library->second.entries().find(name.substr(dot + 1));
      if (found != library->second.entries().end()) return &found->second;
    }
  }
  std::vector<std::string> all;
  for (const auto& [known, kind] : kinds()) all.push_back(known);
  return Status(ErrorCode::invalid_argument,
                fmt::format("no class is called '{}'{}; classes are called LIBRARY.CLASS, of the "
                            "libraries that --library names and of hummer itself",
                            name, suggestion(name, all)));
}

Status ClassLibraries::wrong_kind(std::string_view name, const ClassLibrary::Entry& entry) {
  return Status(ErrorCode::invalid_argument,
                fmt::format("'{}' is a {}, which can't be used here", name, kind_of(entry)));
}

Result<KeyOrder> ClassLibraries::find_order(std::string_view name) const {
  if (const auto order = key_order_of(name)) return *order;
  const auto entry = find_entry(name);
  if (!entry.ok()) return entry.status();
  if (const auto* const order = std::get_if<ForeignKeyOrder>(*entry)) return KeyOrder(*order);
  return wrong_kind(name, **entry);
}

std::map<std::string, std::string_view> ClassLibraries::kinds() const {
  std::map<std::string, std::string_view> kinds;
  for (const auto& [library, classes] : libraries_) {
    for (const auto& [name, entry] : classes.entries()) {
      kinds.emplace(library + "." + name, kind_of(entry));
    }
  }
  return kinds;
}

}  // namespace hummer::batch
