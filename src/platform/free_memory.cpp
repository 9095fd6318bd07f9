#include "platform/free_memory.hpp"

#include <malloc.h>

namespace hummer {

void give_back_free_memory() {
#ifdef __GLIBC__
  (void)::malloc_trim(0);
#endif
}

void keep_large_memory_apart() {
#ifdef __GLIBC__
  (void)::mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace hummer
