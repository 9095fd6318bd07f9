#include <hummer/kafka/record.hpp>

#include "client.hpp"

namespace hummer::kafka {

std::vector<Header> Record::headers() const {
  std::vector<Header> headers;
  rd_kafka_headers_t* parsed = nullptr;
  const auto* const from = static_cast<const rd_kafka_message_t*>(message);
  if (from == nullptr || rd_kafka_message_headers(from, &parsed) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return headers;
  }
  const char* name = nullptr;
  const void* bytes = nullptr;
  std::size_t length = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(parsed, i, &name, &bytes, &length) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    Header header{.name = name, .value = std::nullopt};
    if (bytes != nullptr) header.value = {static_cast<const char*>(bytes), length};
    headers.push_back(header);
  }
  return headers;
}

}  // namespace hummer::kafka
