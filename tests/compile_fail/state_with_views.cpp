// mistake: A state that does not own its text
// group: Records and state
// error: a state's value must own its memory: use std::string instead of std::string_view, and
//   copies of the fields instead of text blocks
// names: ValueState
#include <hummer/hummer.hpp>

#ifdef MISTAKE
struct Remember {
  hummer::ValueState<std::string_view> last{"last"};
};
#else
struct Remember {
  hummer::ValueState<std::string> last{"last"};
};
#endif
