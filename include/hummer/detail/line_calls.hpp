// LineCalls: what a TextStream has because its lines are a DataStream.
//
// Calls that are no faster on blocks of text: they go to the stream of its lines.
#pragma once

#include <string>
#include <utility>

#include <hummer/detail/operators/async_map.hpp>
#include <hummer/network_settings.hpp>
#include <hummer/side_output.hpp>

namespace hummer::detail {

template <typename Self>
class LineCalls {
 public:
  auto owned() const { return lines_of_self().owned(); }
  template <typename... Others>
  auto union_with(const Others&... others) const {
    return lines_of_self().union_with(others...);
  }
  template <typename Other>
  auto connect(const Other& other) const {
    return lines_of_self().connect(other);
  }
  template <typename Named = void, typename User>
  auto process(User user, SideOutputPorts sides = {}) const {
    return lines_of_self().template process<Named>(std::move(user), std::move(sides));
  }
  template <typename Function>
  auto async_map(Function function, AsyncOptions options = {}) const {
    return lines_of_self().async_map(std::move(function), options);
  }
  template <typename Windows>
  auto window_all(Windows windows) const {
    return lines_of_self().window_all(windows);
  }
  auto broadcast() const { return lines_of_self().broadcast(); }
  auto forward() const { return lines_of_self().forward(); }
  template <typename Choose>
  auto partition_custom(Choose choose) const {
    return lines_of_self().partition_custom(std::move(choose));
  }
  auto network(NetworkSettings settings) const {
    return lines_of_self().network(std::move(settings));
  }
  template <typename Make>
  auto add_sink(std::string name, Make make) const {
    return lines_of_self().add_sink(std::move(name), std::move(make));
  }

 private:
  auto lines_of_self() const { return static_cast<const Self&>(*this).lines(); }
};

}  // namespace hummer::detail
