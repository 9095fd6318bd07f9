// A library whose ABI text (HUMMER_ABI, from the command line of the compiler) is not the engine's.
// Its constructor leaves a file behind, should anybody run it.
#include <cstdio>
#include <cstdlib>

#include <hummer/hummer.hpp>

__attribute__((constructor)) static void leave_a_trace() {
  if (const char* path = std::getenv("HUMMER_TEST_TRACE")) {
    if (std::FILE* file = std::fopen(path, "w")) std::fclose(file);
  }
}

void nothing(hummer::StreamExecutionEnvironment&) {}

#if defined(WITHOUT_NOTE)
extern "C" const hummer::JobFunction hummer_job;
extern "C" const hummer::JobFunction hummer_job = &hummer::call_job<&nothing>;
#else
HUMMER_JOB(nothing)
#endif
