#define HUMMER_LEVEL 3
#define HUMMER_FIND_TEXT_KEYS find_text_keys_v3
#include "state/text_keys_loop.hpp"
