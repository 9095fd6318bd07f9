#include <hummer/operators/view_check.hpp>

#include <link.h>
#include <pthread.h>

#include <cstdint>

namespace hummer {
namespace {

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

bool lies_in_image(Range wanted) {
  const auto visit = [](dl_phdr_info* image, std::size_t, void* argument) {
    const Range& range = *static_cast<const Range*>(argument);
    for (int i = 0; i < image->dlpi_phnum; ++i) {
      const auto& segment = image->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD) continue;
      const std::uintptr_t begin = image->dlpi_addr + segment.p_vaddr;
      if (range.begin >= begin && range.end <= begin + segment.p_memsz) return 1;
    }
    return 0;
  };
  return dl_iterate_phdr(visit, &wanted) != 0;
}

bool lies_in_stack(Range wanted) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<std::uintptr_t>(lowest);
  return wanted.begin >= begin && wanted.end <= begin + size;
}

}  // namespace

Status check_view(std::string_view view, const Batch& batch) {
  if (view.empty()) return {};
  for (const BufferRef& buffer : batch.kept_buffers()) {
    if (buffer->contains(view.data(), view.size())) return {};
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(view.data());
  const Range range{begin, begin + view.size()};
  if (lies_in_image(range)) return {};
  return {ErrorCode::user_function_failed,
          std::string("view into a temporary: ") + std::to_string(view.size()) +
              (lies_in_stack(range) ? " bytes of text in the stack"
                                    : " bytes of text in memory that no kept buffer holds") +
              "; return a std::string, or copy it with out.copy(text)"};
}

}  // namespace hummer
