#include <hummer/detail/type_descriptor.hpp>

#include <hummer/detail/key_hash.hpp>

namespace hummer::detail {

TypeDescriptor named_type(std::string name, std::size_t size_bytes, std::size_t alignment) {
  TypeDescriptor type;
  type.id = hash_bytes(name.data(), name.size()) * 31 + size_bytes;
  type.name = std::move(name);
  type.size_bytes = size_bytes;
  type.alignment = alignment;
  return type;
}

std::string joined_names(std::string_view head, std::initializer_list<std::string (*)()> parts,
                         std::string_view tail) {
  std::string names(head);
  for (std::string (*const part)() : parts) {
    if (names.size() > head.size()) names += ',';
    names += part();
  }
  return names.append(tail);
}

std::string number_name(char kind, std::size_t size_bytes) {
  return kind + std::to_string(size_bytes * 8);
}

}  // namespace hummer::detail

template const hummer::TypeDescriptor& hummer::type_of<std::string_view>();
