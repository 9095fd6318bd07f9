#include <hummer/detail/state/key_codec.hpp>

#include <cstring>

#include <hummer/detail/connector_context.hpp>
#include <hummer/operator.hpp>

namespace hummer {

OwnsKey owned_by(const OperatorContext& context) {
  return [&own = connector_context(context)](std::uint64_t hash) { return own.owns_hash(hash); };
}

void KeyCodec::write(std::string_view key, ByteWriter& out) const {
  if (encode != nullptr) {
    encode(key, out);
  } else if (integer_bytes > 0) {
    write_integer(key, out);
  } else {
    out.put_text(key);
  }
}

bool KeyCodec::read(ByteReader& in, std::string& space, std::string_view& key) const {
  if (integer_bytes == 0 && decode == nullptr) return in.get_text(key);
  if (decode != nullptr) {
    if (!decode(in, space)) return false;
  } else {
    const char* const bytes = in.take(integer_bytes);
    if (bytes == nullptr) return false;
    const bool negative = is_signed && (bytes[integer_bytes - 1] & 0x80) != 0;
    space.assign(sizeof(std::uint64_t), negative ? '\xff' : '\0');
    std::memcpy(space.data(), bytes, integer_bytes);
  }
  key = space;
  return true;
}

std::uint64_t KeyCodec::hash_of_others(std::string_view key) const {
  if (hash != nullptr) return hash(key);
  return hash_bytes(key.data(), integer_bytes > 0 ? integer_bytes : key.size());
}

}  // namespace hummer
