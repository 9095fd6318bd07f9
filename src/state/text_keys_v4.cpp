#define HUMMER_LEVEL 4
#define HUMMER_FIND_TEXT_KEYS find_text_keys_v4
#include "state/text_keys_loop.hpp"
