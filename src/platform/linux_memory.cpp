#include "platform/linux_memory.hpp"

#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace hummer {
namespace {

// A hierarchy of cgroups as it is mounted here, and the file that holds a group's limit.
struct Hierarchy {
  std::string mounted_root;  // the group that is at `mount`
  std::string mount;
  const char* file;
};

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// Lines of mountinfo: id, parent, device, root, mount point, options, further fields, "-", type,
// source, super options.
std::vector<Hierarchy> mounted_hierarchies(const std::string& root) {
  std::vector<Hierarchy> found;
  std::ifstream mounts(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string skipped, mounted_root, mount, type, source, options;
    words >> skipped >> skipped >> skipped >> mounted_root >> mount;
    while (words >> skipped && skipped != "-") {
    }
    words >> type >> source >> options;
    if (type == "cgroup2") found.push_back({mounted_root, mount, "memory.max"});
    if (type == "cgroup" && has_word(options, "memory")) {
      found.push_back({mounted_root, mount, "memory.limit_in_bytes"});
    }
  }
  return found;
}

// Lines of /proc/self/cgroup: number, controllers (none: version 2), path.
std::string group_of(const std::string& root, const Hierarchy& hierarchy) {
  const bool version_2 = std::string(hierarchy.file) == "memory.max";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version_2 ? controllers.empty() : has_word(controllers, "memory")) {
      return line.substr(second + 1);
    }
  }
  return "/";
}

// Below the mount point; a container without a name space of its own sees the host's path.
std::string path_below_mount(const std::string& group, const std::string& mounted_root) {
  if (group.find("/..") != group.npos) return "";
  const std::string above = mounted_root == "/" ? "" : mounted_root;
  if (group.compare(0, above.size(), above) != 0) return "";
  std::string path = group.substr(above.size());
  if (!path.empty() && path.front() != '/') return "";
  return path == "/" ? "" : path;
}

// "max" and what can't be read are no limit.
std::size_t read_bytes(const std::string& file) {
  std::ifstream in(file);
  unsigned long long bytes = 0;
  return in >> bytes ? static_cast<std::size_t>(bytes) : 0;
}

MemoryGiven machine_memory(const std::string& root) {
  std::ifstream lines(root + "/proc/meminfo");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    unsigned long long kibibytes = 0;
    if (words >> name >> kibibytes && name == "MemTotal:") {
      return {static_cast<std::size_t>(kibibytes) << 10, "the machine's memory"};
    }
  }
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return {};
  return {static_cast<std::size_t>(pages) * static_cast<std::size_t>(page), "the machine's memory"};
}

}  // namespace

MemoryGiven linux_memory_given(const std::string& root) {
  MemoryGiven given = machine_memory(root);
  for (const Hierarchy& hierarchy : mounted_hierarchies(root)) {
    std::string path = path_below_mount(group_of(root, hierarchy), hierarchy.mounted_root);
    // A group has no more than those around it leave.
    for (;;) {
      const std::string file = hierarchy.mount + path + "/" + hierarchy.file;
      const std::size_t bytes = read_bytes(root + file);
      if (bytes > 0 && (given.bytes == 0 || bytes < given.bytes)) given = {bytes, file};
      if (path.empty()) break;
      path.resize(path.rfind('/'));
    }
  }
  return given;
}

}  // namespace hummer
