#pragma once

#include <cstddef>
#include <span>

#include "grading/base/descriptor.hpp"

namespace course::grading {

/// @brief Rounds up to whole pages (4096 bytes).
constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

/// A mapping of memory that unmaps itself.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  enum class Mode {
    shared,        ///< read and write, seen by both processes
    shared_read,   ///< read only
    private_copy,  ///< read and write; writes stay in this process
  };

  /// @brief Maps bytes of a descriptor. Offset and size are whole pages.
  /// @throws std::system_error if the system has no memory for it.
  static Mapping map(int fd, std::size_t offset, std::size_t bytes, Mode mode);

 private:
  void reset();
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// @brief A new anonymous file in memory of whole pages, zero-filled.
/// @throws std::system_error if the system has no memory for it.
Descriptor create_memory(const char* name, std::size_t bytes);

/// @brief Nobody can map it for writing, write to it, or change its size, from now on. Whoever maps it for
/// writing already still can write: unmap it first.
void seal_contents(int fd);

/// @brief Nobody can change its size from now on, so that a mapping of it cannot be cut off under a reader.
void seal_size(int fd);

}  // namespace course::grading
