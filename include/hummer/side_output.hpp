// SideOutput<T>: the tag of a second (third …) output of a process function.
//
//   constexpr SideOutput<Order> late{"late"};
//   auto paid = orders.process<Bill>(function, side_outputs(late));
//   paid.side_output(late).print();
//
// and in the function: `out.side(late, order)`. A tag is a name and a type and
// nothing else: it may be copied into functions. Ports are numbered from 1 in the
// order in which the tags are listed; two of the same name are one mistake.
#pragma once

#include <string_view>
#include <vector>

#include <hummer/detail/type_descriptor.hpp>

namespace hummer {

template <StreamType T>
struct SideOutput {
  using type = T;
  std::string_view name;  // REQUIRES: a literal
};

struct SideOutputPort {
  std::string_view name;
  const TypeDescriptor* type;
};
using SideOutputPorts = std::vector<SideOutputPort>;

template <typename... T>
SideOutputPorts side_outputs(const SideOutput<T>&... tags) {
  return {SideOutputPort{tags.name, &type_of<T>()}...};
}

// The port of a tag, or 0 when it is not listed (port 0 is the main output). Compares the
// literals' addresses first: a tag usually is the very one that was listed.
inline std::size_t side_output_port(const SideOutputPorts& ports, std::string_view name,
                                    const TypeDescriptor& type) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if ((ports[i].name.data() == name.data() && ports[i].name.size() == name.size()) ||
        ports[i].name == name) {
      return *ports[i].type == type ? i + 1 : 0;
    }
  }
  return 0;
}

}  // namespace hummer
