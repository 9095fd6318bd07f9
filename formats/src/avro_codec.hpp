// The codecs of the blocks of Avro's container files: null, deflate, snappy and zstandard.
//
// bzip2 and xz are not there.
//
// Errors: corrupt_record for what can't be unpacked, limit_exceeded for what would be more than
// `most` bytes: no more memory is taken than twice that.
//
// Thread: one at a time. Memory: a block's, again and again, as long as nobody else has it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hummer/buffer.hpp>
#include <hummer/formats/avro.hpp>
#include <hummer/status.hpp>

namespace hummer::formats {

// The name as files have it; and the codec of a name, or why there is none.
std::string_view avro_codec_name(AvroOptions::Codec codec);
Result<AvroOptions::Codec> avro_codec_of(std::string_view name);

class AvroCodec {
 public:
  explicit AvroCodec(AvroOptions::Codec codec);
  ~AvroCodec();

  // What the block is unpacked to; it lies in buffer(), which is another one for each block that
  // somebody has kept. REQUIRES: the codec is not null.
  Result<std::string_view> unpack(std::string_view block, std::size_t most);
  const BufferRef& buffer() const { return buffer_; }

  // Appends the packed block.
  Status pack(std::string_view block, std::string& packed);

 private:
  struct Streams;

  // At least `size` bytes, with the first `kept` of what there is.
  void make_room(std::size_t size, std::size_t kept);
  Result<std::string_view> unpack_deflate(std::string_view block, std::size_t most);
  Result<std::string_view> unpack_snappy(std::string_view block, std::size_t most);
  Result<std::string_view> unpack_zstandard(std::string_view block, std::size_t most);

  AvroOptions::Codec codec_;
  std::unique_ptr<Streams> streams_;
  BufferRef buffer_;
  std::size_t usual_bytes_ = 0;
};

}  // namespace hummer::formats
