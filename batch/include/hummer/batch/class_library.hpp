// HUMMER_BATCH_LIBRARY: mappers, reducers and the like in a shared library, found by their names.
//
//   HUMMER_BATCH_LIBRARY(words) {
//     library.add<WordMapper>("WordMapper");
//     library.add<SumReducer>("SumReducer");
//   }
//
// makes words.WordMapper and words.SumReducer of them, for `hummer batch run --library words.so
// --mapper words.WordMapper --reducer words.SumReducer`. What a class is for follows from what it
// derives from. Each task makes an object of its own, without arguments; what it shall know comes
// as parameters (TaskContext). The CMake function hummer_add_batch_library builds such a library.
//
// A library carries the ABI text of the headers and the compiler in an ELF note, which is read
// from the file before any code of it runs: one that was built for another engine is refused, and
// both are named.
//
// Errors: a name that is given twice is the library's mistake, and refused when it is loaded.
//
// Thread: filled by one; then any.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <hummer/batch/combiner.hpp>
#include <hummer/batch/folder.hpp>
#include <hummer/batch/key_order.hpp>
#include <hummer/batch/mapper.hpp>
#include <hummer/batch/partitioner.hpp>
#include <hummer/batch/record_reader.hpp>
#include <hummer/batch/record_writer.hpp>
#include <hummer/batch/reducer.hpp>
#include <hummer/status.hpp>

namespace hummer::batch {

template <typename Base>
using ClassFactory = std::unique_ptr<Base> (*)();

class ClassLibrary {
 public:
  explicit ClassLibrary(std::string name) : name_(std::move(name)) {}

  template <typename Class>
  void add(std::string_view name) {
    static_assert(std::default_initializable<Class>,
                  "a class of a library is made without arguments (TaskContext has parameters)");
    if constexpr (std::derived_from<Class, Mapper>) {
      add_entry(name, ClassFactory<Mapper>(&make<Mapper, Class>));
    } else if constexpr (std::derived_from<Class, Reducer>) {
      add_entry(name, ClassFactory<Reducer>(&make<Reducer, Class>));
    } else if constexpr (std::derived_from<Class, Combiner>) {
      add_entry(name, ClassFactory<Combiner>(&make<Combiner, Class>));
    } else if constexpr (std::derived_from<Class, Folder>) {
      add_entry(name, ClassFactory<Folder>(&make<Folder, Class>));
    } else if constexpr (std::derived_from<Class, Partitioner>) {
      add_entry(name, ClassFactory<Partitioner>(&make<Partitioner, Class>));
    } else if constexpr (std::derived_from<Class, RecordReader>) {
      add_entry(name, ClassFactory<RecordReader>(&make<RecordReader, Class>));
    } else {
      static_assert(std::derived_from<Class, RecordWriter>,
                    "a library has classes that derive from Mapper, Reducer, Combiner, Folder, "
                    "Partitioner, RecordReader or RecordWriter");
      add_entry(name, ClassFactory<RecordWriter>(&make<RecordWriter, Class>));
    }
  }
  // An order of keys; the functions stay where they are.
  void add_key_order(std::string_view name, ForeignKeyOrder order) { add_entry(name, order); }

  using Entry =
      std::variant<ClassFactory<Mapper>, ClassFactory<Reducer>, ClassFactory<Combiner>,
                   ClassFactory<Folder>, ClassFactory<Partitioner>, ClassFactory<RecordReader>,
                   ClassFactory<RecordWriter>, ForeignKeyOrder>;
  const std::string& name() const { return name_; }
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  // What was wrong with the calls of add().
  const Status& status() const { return status_; }

 private:
  template <typename Base, typename Class>
  static std::unique_ptr<Base> make() {
    return std::make_unique<Class>();
  }
  void add_entry(std::string_view name, Entry entry);

  const std::string name_;
  std::map<std::string, Entry, std::less<>> entries_;
  Status status_;
};

// What the program looks for in a library.
struct BatchLibrary {
  const char* name;
  void (*fill)(ClassLibrary& library);
};

// The ELF note of a class library: owner "hummer", type 2, the ABI text with its final zero.
template <std::size_t size>
struct BatchLibraryNote {
  std::uint32_t owner_bytes;
  std::uint32_t text_bytes;
  std::uint32_t type;
  char owner[8];
  char text[(size + 3) / 4 * 4];
};
template <std::size_t size>
constexpr BatchLibraryNote<size> make_batch_library_note(const char (&abi)[size]) {
  BatchLibraryNote<size> note{7, size, 2, "hummer", {}};
  for (std::size_t i = 0; i < size; ++i) note.text[i] = abi[i];
  return note;
}

}  // namespace hummer::batch

#define HUMMER_BATCH_LIBRARY(name)                                                            \
  static void hummer_batch_fill(::hummer::batch::ClassLibrary& library);                      \
  extern "C" const ::hummer::batch::BatchLibrary hummer_batch_library;                        \
  extern "C" const ::hummer::batch::BatchLibrary hummer_batch_library = {#name,               \
                                                                         &hummer_batch_fill}; \
  __attribute__((section(".note.hummer"), used,                                               \
                 aligned(4))) static constexpr auto hummer_batch_note =                       \
      ::hummer::batch::make_batch_library_note(HUMMER_ABI HUMMER_BATCH_ABI);                  \
  static void hummer_batch_fill([[maybe_unused]] ::hummer::batch::ClassLibrary& library)
