// error: a vector of a type without fields
#include <hummer/hummer.hpp>

struct Nothing {};

bool read(hummer::ByteReader& in, std::vector<Nothing>& nothings) {
  return hummer::Codec<std::vector<Nothing>>::decode(in, nothings);
}
