#include "platform/system_error.hpp"

#include <cerrno>
#include <system_error>

namespace hummer {
namespace {

std::string reason(int error) { return std::system_category().message(error); }

ErrorCode file_code(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::permission_denied;
    case EISDIR: return ErrorCode::not_a_file;
    case ENOSPC:
    case EDQUOT: return ErrorCode::disk_full;
    case EEXIST:
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case ENOTEMPTY:
    case EXDEV: return ErrorCode::invalid_argument;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EFBIG: return ErrorCode::limit_exceeded;
    default: return ErrorCode::io_error;
  }
}

ErrorCode socket_code(int error) {
  switch (error) {
    case ECONNREFUSED: return ErrorCode::connection_refused;
    case EADDRINUSE: return ErrorCode::address_in_use;
    case ETIMEDOUT: return ErrorCode::timed_out;
    case EACCES:
    case EPERM: return ErrorCode::permission_denied;
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
    case EINVAL: return ErrorCode::invalid_argument;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: return ErrorCode::limit_exceeded;
    default: return ErrorCode::connection_lost;
  }
}

}  // namespace

Status file_failure(int error, const std::string& doing, const std::string& path) {
  return {file_code(error), "cannot " + doing + " '" + path + "': " + reason(error)};
}

Status socket_failure(int error, const std::string& doing) {
  return {socket_code(error), doing + ": " + reason(error)};
}

}  // namespace hummer
