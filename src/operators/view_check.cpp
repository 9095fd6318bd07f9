#include <hummer/detail/operators/view_check.hpp>

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace hummer {
namespace {

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// The segment of the program or of a library that holds `wanted`; empty: none.
Range image_around(Range wanted) {
  // Literals come again and again, and the list of images has a lock.
  static thread_local Range last{0, 0};
  if (wanted.begin >= last.begin && wanted.end <= last.end) return last;
  struct Search {
    Range wanted;
    Range found{0, 0};
  } search{wanted};
  const auto visit = [](dl_phdr_info* image, std::size_t, void* argument) {
    Search& sought = *static_cast<Search*>(argument);
    for (int i = 0; i < image->dlpi_phnum; ++i) {
      const auto& segment = image->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD) continue;
      const std::uintptr_t begin = image->dlpi_addr + segment.p_vaddr;
      if (sought.wanted.begin < begin || sought.wanted.end > begin + segment.p_memsz) continue;
      sought.found = {begin, begin + segment.p_memsz};
      return 1;
    }
    return 0;
  };
  if (dl_iterate_phdr(visit, &search) != 0) last = search.found;
  return search.found;
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

Status ViewRanges::find(std::string_view view) {
  if (view.empty()) return {};
  for (const BufferRef& buffer : batch_.kept_buffers()) {
    if (!buffer->contains(view.data(), view.size())) continue;
    begin_ = reinterpret_cast<std::uintptr_t>(buffer->data());
    size_bytes_ = buffer->size();
    return {};
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(view.data());
  const Range range{begin, begin + view.size()};
  if (const Range image = image_around(range); image.end != 0) {
    begin_ = image.begin;
    size_bytes_ = image.end - image.begin;
    return {};
  }
  return {ErrorCode::user_function_failed,
          std::string("view into a temporary: ") + std::to_string(view.size()) +
              (lies_in_stack(range) ? " bytes of text in the stack"
                                    : " bytes of text in memory that no kept buffer holds") +
              "; return a std::string, or copy it with out.copy(text); text that outlives the job "
              "by the author's own care needs --check-views off"};
}

bool ViewRanges::hold_all(std::span<const std::string_view> views) {
  if (views.empty()) return true;
  if (!check(views.front()).ok()) return false;
  // A view that begins in a buffer ends there; without branches, as this runs over every word.
  std::uintptr_t furthest = 0;
  for (const std::string_view view : views) {
    furthest = std::max(furthest, reinterpret_cast<std::uintptr_t>(view.data()) - begin_);
  }
  return furthest <= size_bytes_;
}

Status check_view(std::string_view view, const Batch& batch) {
  return ViewRanges(batch).check(view);
}

Status of_output_record(const Status& failure, std::size_t record) {
  return failure.with_context("record " + std::to_string(record) + " of the output");
}

void throw_key_in_left_stack() {
  throw std::logic_error(
      "the key is a view of a local variable of the key function, which is gone: return a "
      "std::string");
}

}  // namespace hummer
