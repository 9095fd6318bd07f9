// SchemaRegistry: where the schemas of messages are kept by number; the contract that Avro and
// Protobuf are on. hummer/formats/registry.hpp has one that asks a server.
//
// Thread: any, several at a time. Errors: as the implementation says; they fail the job, whatever
// its failure policy is, for the messages behind would be lost otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer::formats {

class SchemaRegistry {
 public:
  enum class Language : std::uint8_t { avro, protobuf, json };

  virtual ~SchemaRegistry() = default;
  // The text of the schema with this number; of Protobuf a FileDescriptorProto, in base64.
  // not_found: there is none, and corrupt_record: it is of another language; the message is bad.
  virtual Result<std::string> schema(std::uint32_t id, Language language) = 0;
  // Its number, under which it is known from now on, if it wasn't.
  virtual Result<std::uint32_t> add(std::string_view subject, Language language,
                                    std::string_view schema) = 0;
  // The options, which client and workers compare.
  virtual std::string captured() const = 0;
};

}  // namespace hummer::formats
