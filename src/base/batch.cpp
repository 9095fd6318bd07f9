#include <hummer/batch.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace hummer {
namespace {

constexpr std::size_t arena_chunk_bytes = 16 * 1024;
constexpr std::size_t values_alignment = 64;

}  // namespace

Batch::Batch(const TypeDescriptor& type, std::uint32_t capacity) : storage_(new Storage) {
  storage_->type = &type;
  allocate_values(*storage_, capacity);
}

Batch Batch::adopt(const TypeDescriptor& type, BufferRef buffer, void* values,
                   std::uint32_t count) {
  HUMMER_ASSERT(type.trivial);
  HUMMER_ASSERT(reinterpret_cast<std::uintptr_t>(values) % type.alignment == 0);
  Batch batch;
  batch.storage_ = new Storage;
  batch.storage_->type = &type;
  batch.storage_->values = values;
  batch.storage_->size = count;
  batch.storage_->capacity = count;
  batch.storage_->adopted = std::move(buffer);
  return batch;
}

void Batch::allocate_values(Storage& storage, std::uint32_t capacity) {
  const std::size_t bytes = std::max<std::size_t>(capacity, 1) * storage.type->size_bytes;
  storage.values = ::operator new(bytes, std::align_val_t(values_alignment));
  storage.capacity = std::max<std::uint32_t>(capacity, 1);
}

void Batch::free_values(Storage& storage) {
  if (storage.adopted) {
    storage.adopted = {};
    return;
  }
  if (!storage.type->trivial) storage.type->destroy_values(storage.values, storage.size);
  ::operator delete(storage.values, std::align_val_t(values_alignment));
}

void Batch::drop() {
  if (storage_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    free_values(*storage_);
    delete storage_;
  }
  storage_ = nullptr;
}

Batch Batch::share() const {
  Batch other;
  if (storage_ != nullptr) {
    storage_->references.fetch_add(1, std::memory_order_relaxed);
    other.storage_ = storage_;
  }
  return other;
}

bool Batch::make_unique() {
  if (storage_ == nullptr || unique()) return true;
  if (!storage_->type->trivial && storage_->type->copy_values == nullptr) return false;
  Batch copy(*storage_->type, std::max(storage_->size, storage_->capacity));
  if (storage_->type->trivial) {
    std::memcpy(copy.storage_->values, storage_->values,
                storage_->size * storage_->type->size_bytes);
  } else {
    storage_->type->copy_values(copy.storage_->values, storage_->values, storage_->size);
  }
  copy.storage_->size = storage_->size;
  copy.storage_->timestamps = storage_->timestamps;
  copy.keep_buffers_of(*this);
  if (storage_->adopted && storage_->type->holds_views) copy.keep(storage_->adopted);
  copy.position_ = position_;
  copy.split_ = split_;
  *this = std::move(copy);
  return true;
}

void Batch::reserve(std::uint32_t capacity) {
  HUMMER_ASSERT(storage_ != nullptr && unique());
  if (capacity <= storage_->capacity) return;
  Storage grown;
  grown.type = storage_->type;
  allocate_values(grown, capacity);
  if (storage_->type->trivial) {
    std::memcpy(grown.values, storage_->values, storage_->size * storage_->type->size_bytes);
  } else {
    storage_->type->move_values(grown.values, storage_->values, storage_->size);
  }
  const std::uint32_t size = storage_->size;
  free_values(*storage_);
  storage_->values = grown.values;
  storage_->capacity = grown.capacity;
  storage_->size = size;
}

void Batch::clear() {
  position_ = 0;
  split_ = no_split;
  if (storage_ == nullptr) return;
  if (storage_->adopted || !unique()) {
    drop();
    return;
  }
  if (!storage_->type->trivial) storage_->type->destroy_values(storage_->values, storage_->size);
  storage_->size = 0;
  storage_->timestamps.clear();
  if (storage_->kept.empty()) return;
  const BufferRef arena = std::move(storage_->arena);
  storage_->kept.clear();
  storage_->arena_used = 0;
  // The arena chunk serves again unless somebody kept it.
  if (arena && arena->unique() && arena->size() == arena_chunk_bytes) {
    storage_->arena = arena;
    storage_->kept.push_back(arena);
  }
}

void Batch::keep(const BufferRef& buffer) {
  for (const BufferRef& known : storage_->kept) {
    if (known == buffer) return;
  }
  storage_->kept.push_back(buffer);
}

void Batch::keep_buffers_of(const Batch& other) {
  for (const BufferRef& buffer : other.storage_->kept) keep(buffer);
  if (other.storage_->adopted) keep(other.storage_->adopted);
}

char* Batch::allocate_text(std::size_t length) {
  Storage& storage = *storage_;
  if (!storage.arena || storage.arena_used + length > storage.arena->size()) {
    storage.arena = BufferRef::allocate(std::max(length, arena_chunk_bytes));
    storage.arena_used = 0;
    storage.kept.push_back(storage.arena);
  }
  char* at = storage.arena->data() + storage.arena_used;
  storage.arena_used += length;
  return at;
}

std::string_view Batch::copy_text(std::string_view text) {
  char* at = allocate_text(text.size());
  std::copy(text.begin(), text.end(), at);  // also of a view without an address
  return {at, text.size()};
}

std::size_t Batch::memory_bytes() const {
  if (storage_ == nullptr) return 0;
  std::size_t bytes = sizeof(Storage);
  if (!storage_->adopted) bytes += storage_->capacity * storage_->type->size_bytes;
  if (storage_->arena) bytes += storage_->arena->size();
  return bytes + storage_->timestamps.capacity() * sizeof(Timestamp);
}

}  // namespace hummer
