// JSON behind the number of its schema in a registry (hummer/formats/registry.hpp).
//
//   auto trades = decode<Trade>(messages, registered_json(schemas));
//   auto values = encode_messages(trades, registered_json(schemas, "trades-value"));
//
// Read: the schema of each number is asked for once, and must have the struct's fields among its
// `properties`, each of a fitting type; else the messages are bad records. Nothing more of JSON
// Schema is looked at: the messages are read as json() reads them. Written: the registry is told a
// schema that is made of the struct. Files are as those of json().
#pragma once

#include <memory>
#include <string>

#include <hummer/formats/json.hpp>
#include <hummer/formats/schema_registry.hpp>

namespace hummer::formats {

std::shared_ptr<const Format> registered_json(std::shared_ptr<SchemaRegistry> registry,
                                              std::string subject = {}, JsonOptions options = {});

}  // namespace hummer::formats
