// Linked into tests that are declared to run in one thread (SINGLE_THREADED_TESTS in
// cmake/HummerModules.cmake; hummer_simulated_tests): no ThreadSanitizer looks at them, so a test
// that starts a thread must say so. This definition comes before the one of libc; the program ends
// where a thread would begin.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept {
  std::fputs(
      "this test starts a thread, but is declared not to: name its file behind BUT in "
      "CMakeLists.txt, "
      "or leave it out of simulated_tests in tests/CMakeLists.txt, so that the preset tsan runs "
      "it\n",
      stderr);
  std::abort();
}
