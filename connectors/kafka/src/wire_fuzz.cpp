// What a broker answers: each kind of answer, by the first byte.
#include "wire.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer::kafka;
  if (size == 0) return 0;
  std::string_view answer(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::int32_t correlation = 0;
  std::int16_t error = 0;
  switch (data[0] % 7) {
    case 0: {
      std::vector<ApiRange> ranges;
      (void)parse_api_versions(answer, error, ranges);
      HUMMER_ASSERT(ranges.size() <= size);
      break;
    }
    case 1: {
      FoundCoordinator found;
      (void)parse_find_coordinator(answer, found);
      HUMMER_ASSERT(found.host.size() + found.message.size() <= size);
      break;
    }
    case 2: {
      std::vector<std::string> mechanisms;
      (void)parse_sasl_handshake(answer, error, mechanisms);
      HUMMER_ASSERT(mechanisms.size() <= size);
      break;
    }
    case 3: {
      SaslAnswer sasl;
      (void)parse_sasl_authenticate(answer, sasl);
      break;
    }
    case 4: {
      InitializedProducer initialized;
      (void)parse_init_producer_id(answer, initialized);
      break;
    }
    case 5: (void)parse_end_transaction(answer, error); break;
    default: {
      DescribedTransaction described;
      if (!parse_head(Api::describe_transactions, answer, correlation)) break;
      (void)parse_describe_transaction(answer, described);
      std::size_t partitions = 0;
      for (const auto& [topic, numbers] : described.partitions) partitions += numbers.size();
      HUMMER_ASSERT(partitions <= size && described.partitions.size() <= size);
    }
  }
  return 0;
}
