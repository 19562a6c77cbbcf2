#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace simt {

/// A file mapped for reading; empty if that is not possible. A confined process reads none in another way.
class FileView {
 public:
  explicit FileView(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
      void* memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) data_ = memory, bytes_ = static_cast<std::size_t>(status.st_size);
    }
    if (file >= 0) close(file);
  }
  ~FileView() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  /// `count` objects at `offset`; null if the file is too short for them.
  template <class T>
  const T* at(std::size_t offset, std::size_t count = 1) const {
    if (offset > bytes_ || count > (bytes_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(static_cast<const std::byte*>(data_) + offset);
  }
  std::string_view text() const { return {static_cast<const char*>(data_), bytes_}; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace simt
