#include <hummer/bytes.hpp>

namespace hummer {

ByteWriter::ByteWriter(std::string& growing, bool canonical)
    : growing_(&growing), canonical_(canonical) {
  growing.resize(growing.size() < 64 ? 64 : growing.size());
  rebase(0);
}

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

void ByteWriter::rebase(std::size_t used) {
  begin_ = growing_->data();
  cursor_ = begin_ + used;
  end_ = begin_ + growing_->size();
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
