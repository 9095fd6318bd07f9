#define HUMMER_LEVEL 4
#define HUMMER_FIND_WORDS find_words_v4
#include "operators/split_words_loop.hpp"
