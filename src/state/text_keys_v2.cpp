#define HUMMER_LEVEL 2
#define HUMMER_FIND_TEXT_KEYS find_text_keys_v2
#include "state/text_keys_loop.hpp"
