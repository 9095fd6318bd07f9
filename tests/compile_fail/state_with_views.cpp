// error: a state's value must own its memory: use std::string instead of std::string_view
#include <hummer/hummer.hpp>

struct Remember {
  hummer::ValueState<std::string_view> last{"last"};
};
