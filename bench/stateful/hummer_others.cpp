// The rows of asynchronous calls and of deduplicate.
#include "stateful_hummer.hpp"

namespace stateful {

// Each call has its result at once: what is measured is the way of a record through the operator.
void build_async_map(Job& job) {
  const auto results =
      job.env.generate(job.key_of(), {.count = job.scale().records})
          .async_map([](std::uint64_t key,
                        hummer::AsyncResult<std::uint64_t> result) { result.complete(mixed(key)); },
                     {.capacity = 1'000});
  sum_up(job, results, [](Checksum& sum, std::uint64_t value) { sum.add(value); });
}

// Each key once.
void build_deduplicate(Job& job) {
  sum_up(job,
         job.env.generate(job.key_of(), {.count = job.scale().records})
             .key_by(hummer::identity)
             .deduplicate(),
         [](Checksum& sum, std::uint64_t key) { sum.add(key); });
}

}  // namespace stateful
