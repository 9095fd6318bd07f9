// HUMMER_JOB: makes a program, or a job library, of the function that builds a job.
//
//   void word_count(hummer::StreamExecutionEnvironment& env) {
//     env.from_file(env.argument("input")).flat_map(hummer::split_words)....print();
//     env.execute("WordCount");
//   }
//   HUMMER_JOB(word_count)
//
// The function is called again on every worker that runs a part of the job, with the same
// arguments, so it must build the same graph each time: let it depend on its arguments only (and on
// files that all workers see), and call execute() once. It returns nothing or the JobResult.
//
// Compiled as a program (the default) it also defines main(): `program --help` lists what it
// can be. Compiled with HUMMER_JOB_LIBRARY (the CMake helper hummer_add_job does both) it defines
// what the `hummer` binary looks for in a library: the constant `hummer_job`, and the ABI text of
// the headers and compiler in an ELF note, which is read from the file before any of its code runs.
//
// Errors: a function that throws, or never calls execute(), fails the job by that name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <hummer/environment.hpp>

namespace hummer {

using JobFunction = JobResult (*)(StreamExecutionEnvironment&);

// main() of a program with a job inside: runs it embedded, or is the JobManager, a TaskManager or a
// client of a cluster, as the first argument says. The exit code.
int run_program(int argc, const char* const* argv, JobFunction job);

// A job function of either form as a JobFunction. Of one without a result: what execute() gave.
template <auto function>
JobResult call_job(StreamExecutionEnvironment& env) {
  if constexpr (std::is_void_v<decltype(function(env))>) {
    function(env);
    return env.last_result();
  } else {
    return function(env);
  }
}

// The ELF note of a job library: owner "hummer", type 1, the ABI text with its final zero.
template <std::size_t size>
struct JobLibraryNote {
  std::uint32_t owner_bytes;
  std::uint32_t text_bytes;
  std::uint32_t type;
  char owner[8];
  char text[(size + 3) / 4 * 4];
};
template <std::size_t size>
constexpr JobLibraryNote<size> make_job_library_note(const char (&abi)[size]) {
  JobLibraryNote<size> note{7, size, 1, "hummer", {}};
  for (std::size_t i = 0; i < size; ++i) note.text[i] = abi[i];
  return note;
}

}  // namespace hummer

#if defined(HUMMER_JOB_LIBRARY)
#define HUMMER_JOB(function)                                                          \
  extern "C" const ::hummer::JobFunction hummer_job;                                  \
  extern "C" const ::hummer::JobFunction hummer_job = &::hummer::call_job<&function>; \
  __attribute__((section(".note.hummer"), used,                                       \
                 aligned(4))) static constexpr auto hummer_job_note =                 \
      ::hummer::make_job_library_note(HUMMER_ABI);
#else
#define HUMMER_JOB(function)                                                  \
  int main(int argc, char** argv) {                                           \
    return ::hummer::run_program(argc, argv, &::hummer::call_job<&function>); \
  }
#endif
