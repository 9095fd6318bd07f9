// mistake: A vector of a type without fields
// group: Records and state
// error: a vector of a type without fields: keep their number instead
// names: Nothing
#include <hummer/hummer.hpp>

#ifdef MISTAKE
struct Nothing {};

bool read(hummer::ByteReader& in, std::vector<Nothing>& nothings) {
  return hummer::Codec<std::vector<Nothing>>::decode(in, nothings);
}
#else
bool read(hummer::ByteReader& in, std::uint32_t& nothings) {
  return hummer::Codec<std::uint32_t>::decode(in, nothings);
}
#endif
