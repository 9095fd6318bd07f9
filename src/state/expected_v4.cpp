#define HUMMER_LEVEL 4
#define HUMMER_HASH_NUMBERS hash_numbers_v4
#define HUMMER_FIND_EXPECTED find_expected_v4
#include "state/expected_loop.hpp"
