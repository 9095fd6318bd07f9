#define HUMMER_LEVEL 3
#define HUMMER_FIND_WORDS find_words_v3
#include "operators/split_words_loop.hpp"
