// JavaHashPartitioner: Hadoop's HashPartitioner, by the hash code that the class of the keys has in
// Java, so that a native mapper's records go to the reducers to which a Java mapper's go.
//
//   auto partitioner = JavaHashPartitioner::of("org.apache.hadoop.io.Text");   // null: unknown
//
// Keys are contents (writable_form.hpp). Thread: any.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <hummer/batch/partitioner.hpp>

namespace hummer::hadoop {

class JavaHashPartitioner final : public batch::Partitioner {
 public:
  // Of a key's content.
  using Hash = std::int32_t (*)(std::string_view content);

  explicit JavaHashPartitioner(Hash hash) : hash_(hash) {}
  static std::unique_ptr<batch::Partitioner> of(std::string_view key_class);

  Status partition(std::span<const batch::RecordView> records, std::uint32_t partitions,
                   std::span<std::uint32_t> into) override;

 private:
  const Hash hash_;
};

}  // namespace hummer::hadoop
