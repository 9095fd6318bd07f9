// The routes of the REST API: what is matched, what is documented, what is called.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "rest/rest_api.hpp"

namespace hummer {

enum class RestParameterType : std::uint8_t { number, hash, job_state, boolean, path, log_level };

struct RestParameter {
  std::string_view name;
  RestParameterType type;
  bool in_path;
  std::string_view description;
};

// A request that fits its route: parameters by name, those of numbers checked.
struct RestCall {
  HttpRequest request;
  std::map<std::string_view, std::string> texts;
  std::map<std::string_view, std::uint64_t> numbers;

  std::uint64_t number(std::string_view name, std::uint64_t otherwise = 0) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? otherwise : found->second;
  }
  std::string text(std::string_view name) const {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  }
};

struct RestRoute {
  std::string_view method;
  std::string_view path;  // "/v1/jobs/{job}"
  std::string_view summary;
  std::span<const RestParameter> parameters;
  std::string_view body;          // content type that it takes; empty: none
  int success;                    // HTTP status
  std::string_view answer;        // name of the schema of its JSON answer; empty: text/plain
  std::span<const int> failures;  // HTTP statuses beyond those that any route may answer
  bool open;                      // needs no token
  Task<HttpResponse> (*call)(RestBackend& backend, RestCall call);
  bool of_task_manager = false;  // TaskManagers answer it too
};

std::span<const RestRoute> rest_routes();

// Whether `path` fits the route's; fills in the parameters' texts.
bool fits(const RestRoute& route, std::string_view path,
          std::map<std::string_view, std::string>& texts);

}  // namespace hummer
