#include <hummer/buffer.hpp>

#include <cstdlib>
#include <new>

namespace hummer {
namespace {

class HeapBuffer final : public Buffer {
 public:
  static HeapBuffer* make(std::size_t size_bytes) {
    void* space = std::malloc(sizeof(HeapBuffer) + size_bytes + read_slack_bytes);
    if (space == nullptr) throw std::bad_alloc();
    char* bytes = static_cast<char*>(space) + sizeof(HeapBuffer);
    // The slack is read, never used: defined bytes keep the checkers quiet.
    for (std::size_t i = 0; i < read_slack_bytes; ++i) bytes[size_bytes + i] = 0;
    return new (space) HeapBuffer(bytes, size_bytes);
  }

 protected:
  void destroy() override {
    this->~HeapBuffer();
    std::free(this);
  }

 private:
  using Buffer::Buffer;
};

}  // namespace

BufferRef BufferRef::allocate(std::size_t size_bytes) {
  return adopt(HeapBuffer::make(size_bytes));
}

}  // namespace hummer
