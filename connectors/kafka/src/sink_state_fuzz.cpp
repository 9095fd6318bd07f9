// What a sink finds in a checkpoint: records of an epoch, the head of its state, notes of progress.
// Records that can be decoded are encoded to the same bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/bytes.hpp>

#include "epoch_records.hpp"
#include "prepared_transaction.hpp"
#include "progress.hpp"
#include "sink_state.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer;
  using namespace hummer::kafka;
  const std::string_view input(reinterpret_cast<const char*>(data), size);

  std::string_view rest = input;
  Outgoing record;
  while (!rest.empty() && decode(rest, record)) {
    std::string once;
    encode(record, once);
    std::string_view again = once;
    Outgoing decoded;
    HUMMER_ASSERT(decode(again, decoded) && again.empty());
    std::string twice;
    encode(decoded, twice);
    HUMMER_ASSERT(once == twice);
  }

  ByteReader in(input);
  SinkStateHead head;
  (void)read_head(in, head);

  ByteReader open_in(input);
  OpenSinkState state;
  if (read_state(open_in, state).ok()) {
    std::string bytes;
    ByteWriter out(bytes);
    write_state(out, state);
    ByteReader again(bytes);
    OpenSinkState same;
    HUMMER_ASSERT(read_state(again, same).ok() && same.prepared == state.prepared &&
                  same.transactional_id == state.transactional_id);
  }

  const std::size_t half = size / 2;
  EpochName name;
  (void)parse_note(input.substr(0, half), input.substr(half), name);
  return 0;
}
