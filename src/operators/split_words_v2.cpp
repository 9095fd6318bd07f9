#define HUMMER_LEVEL 2
#define HUMMER_FIND_WORDS find_words_v2
#include "operators/split_words_loop.hpp"
