#include <hummer/bytes.hpp>

namespace hummer {

bool ByteWriter::make_room(std::size_t length) {
  if (growing_ == nullptr) {
    overflowed_ = true;
    return false;
  }
  const std::size_t used = size();
  growing_->resize((used + length) * 2);
  rebase(used);
  return true;
}

bool ByteReader::fetch(std::size_t length) {
  if (source_ == nullptr) return false;
  const std::string_view part = source_->next({cursor_, at_hand()}, length);
  if (part.size() < length) return false;
  cursor_ = part.data();
  end_ = part.data() + part.size();
  return true;
}

}  // namespace hummer
