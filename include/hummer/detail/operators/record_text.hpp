// copy_record_text: makes views into text that a record owns last.
//
// What a function emits may point into its input. Text that lies in a buffer is kept with that;
// a std::string of a record goes with its batch, which is cleared before the next operator reads
// the output. So what has been put out behind records (or a window's accumulators) that own memory
// is looked through, and text that lies in no buffer is copied. Literals are, too.
//
// Cost: nothing where input without memory of its own, or output without views, says so at compile
// time; else a range test per view and kept buffer, and the copy.
#pragma once

#include <string_view>
#include <type_traits>

#include <hummer/detail/operators/view_check.hpp>

namespace hummer {

// The records of `out` from `first` on were made from what goes now, with all its text.
template <typename Out>
void copy_text_of_gone(Batch& out, std::size_t first) {
  if constexpr (holds_views<Out>) {
    if (out.size() == first) return;
    Out* const records = out.mutable_values<Out>();
    for (std::size_t i = first; i < out.size(); ++i) {
      detail::for_each_view(records[i], [&](auto& view) {
        if constexpr (!std::is_const_v<std::remove_reference_t<decltype(view)>>) {
          for (const BufferRef& buffer : out.kept_buffers()) {
            if (buffer->contains(view.data(), view.size())) return;
          }
          view = out.copy_text(view);
        }
      });
    }
  }
}

// They were made from `From`, while `in` had it.
template <typename From, typename Out>
void copy_record_text(const Batch& in, Batch& out, std::size_t first) {
  if constexpr (holds_views<Out> && !std::is_trivially_destructible_v<From>) {
    if (out.size() == first) return;
    if (in.has_storage()) out.keep_buffers_of(in);
    copy_text_of_gone<Out>(out, first);
  }
}

}  // namespace hummer
