#pragma once
/// @file
/// Tables as large as what they are about, of which little is used.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace simt::check {

/// @brief A table of entries whose bytes are all 0 at first. Pages of it that nobody touches take neither
/// memory nor time.
template <class T>
class ZeroedTable {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ZeroedTable() = default;  ///< of no entries
  /// @throws std::bad_alloc
  explicit ZeroedTable(std::size_t size) : entries_(static_cast<T*>(std::calloc(size, sizeof(T)))) {
    if (entries_ == nullptr) throw std::bad_alloc();
  }

  T& operator[](std::size_t index) { return entries_[index]; }
  const T& operator[](std::size_t index) const { return entries_[index]; }
  const T* data() const { return entries_.get(); }  ///< null: of no entries

 private:
  struct Free {
    void operator()(T* entries) const { std::free(entries); }
  };
  std::unique_ptr<T[], Free> entries_;
};

}  // namespace simt::check
