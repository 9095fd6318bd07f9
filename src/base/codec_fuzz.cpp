// Any bytes as records of several types: nothing is read past the input (it lies
// in memory of its exact size), nothing is allocated beyond a multiple of it, and
// what is a value comes back the same from the bytes that it is written as.
#include <hummer/codec.hpp>

#include <cstdint>
#include <cstdlib>
#include <memory>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/type_descriptor.hpp>

namespace {

using namespace hummer;

enum class Flag : bool { off, on };
enum class Color : std::uint8_t { red, green };

struct Inner {
  std::string name;
  std::optional<int> count;
  Flag flag;
};
struct Outer {
  Inner inner;
  std::vector<Inner> more;
  std::array<float, 2> range;
  Color color;
  bool valid;
};
struct Pixel {
  std::int32_t x;
  float brightness;
};

template <typename T>
std::string encode(const T& value, bool canonical) {
  std::string bytes;
  ByteWriter out(bytes, canonical);
  Codec<T>::encode(value, out);
  return std::string(out.view());
}

template <typename T>
void check(std::string_view bytes) {
  ByteReader in(bytes);
  T value{};
  if (!Codec<T>::decode(in, value)) return;
  if (in.left() > bytes.size()) std::abort();
  const std::string_view taken = bytes.substr(0, bytes.size() - in.left());
  const std::string again = encode(value, false);
  if constexpr (!std::is_same_v<T, long double>) {  // which leaves its padding out
    if (again != taken) std::abort();
  }
  // The canonical form is a value too, and its own canonical form.
  const std::string canonical = encode(value, true);
  ByteReader reader(canonical);
  T other{};
  if (!Codec<T>::decode(reader, other) || reader.left() != 0) std::abort();
  if (encode(other, true) != canonical || key_hash(other) != key_hash(value)) std::abort();
}

// As a snapshot or a frame is read: value after value into raw memory.
template <typename T>
void read_many(std::string_view bytes) {
  constexpr std::size_t count = 8;
  const TypeDescriptor& type = type_of<T>();
  std::allocator<T> allocator;
  T* values = allocator.allocate(count);
  ByteReader in(bytes);
  const std::size_t valid = type.decode_values(in, values, count);
  char space[64];
  ByteWriter out((std::span<char>(space)));
  if (type.encode_values(values, 0, valid, out) > valid) std::abort();
  type.destroy_values(values, valid);
  allocator.deallocate(values, count);
}

template <typename... T>
void check_all(std::size_t which, std::string_view bytes) {
  std::size_t i = 0;
  ((which == i++ ? (check<T>(bytes), read_many<T>(bytes)) : void()), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::unique_ptr<char[]> exact(new char[size - 1]);
  std::memcpy(exact.get(), data + 1, size - 1);
  check_all<bool, std::int16_t, std::uint64_t, float, double, long double, Flag, Color, Pixel,
            std::string_view, std::string, std::pair<std::string_view, int>,
            std::tuple<bool, double, std::string>, std::array<Pixel, 2>,
            std::array<std::array<double, 1>, 2>, std::vector<bool>,
            std::vector<std::vector<std::string>>, std::optional<std::optional<std::string>>, Inner,
            Outer, std::vector<Outer>>(data[0] % 21, {exact.get(), size - 1});
  return 0;
}
