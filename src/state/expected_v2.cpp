#define HUMMER_LEVEL 2
#define HUMMER_HASH_NUMBERS hash_numbers_v2
#define HUMMER_FIND_EXPECTED find_expected_v2
#include "state/expected_loop.hpp"
