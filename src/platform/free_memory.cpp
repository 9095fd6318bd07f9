#include "platform/free_memory.hpp"

#include <malloc.h>

namespace hummer {

void give_back_free_memory() {
#ifdef __GLIBC__
  (void)::malloc_trim(0);
#endif
}

}  // namespace hummer
