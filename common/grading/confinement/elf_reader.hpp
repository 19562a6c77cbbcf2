#pragma once
/// @file
/// A shared library as the loader will map it, read without trusting a byte of it.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace course::grading {

/// @brief The T at that place of `bytes`, in this machine's byte order.
/// @throws std::out_of_range if it does not lie within.
template <class T>
T read_as(std::string_view bytes, std::uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    throw std::out_of_range("read_as: beyond the end");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// @brief Reports that a file is no library that could be checked, with `why` in the middle of the sentence.
/// @throws std::invalid_argument always
[[noreturn]] void refuse_library(const std::string& why);

/// The loader's view of a 64-bit little-endian ELF shared library for x86-64: what the program headers map,
/// and the dynamic section. Section headers are not looked at, because the loader does not look at them
/// either.
///
/// A file in which the loader and this class might see different things is refused: segments that share a
/// page, entries that occur twice, tables in memory that somebody could write to, entries of a kind that no
/// link of ours makes. Costs time in proportion to the size of the headers and the dynamic section. The file
/// must outlive the image.
class ElfImage {
 public:
  /// @throws std::invalid_argument in a sentence if it is not such a library.
  explicit ElfImage(std::string_view file);

  /// @brief The value of a dynamic entry that occurs at most once, by its DT_ number.
  std::optional<std::uint64_t> find(std::int64_t tag) const;
  /// @throws std::invalid_argument if there is no such entry.
  std::uint64_t get(std::int64_t tag) const;
  /// @brief The values of all DT_NEEDED, in order: offsets into the string table.
  const std::vector<std::uint64_t>& needed() const { return needed_; }

  /// @brief What the file holds for addresses that stay as they are while the library is loaded.
  /// @throws std::invalid_argument if not all of them lie in one segment that cannot be written.
  std::string_view constant_bytes(std::uint64_t address, std::uint64_t size) const;
  /// @brief The same from that address to the end of what the file has for its segment.
  std::string_view constant_bytes_from(std::uint64_t address) const;
  /// @brief Whether the loader may write there: to variables of the library, the dynamic section not among
  /// them.
  bool is_variable(std::uint64_t address, std::uint64_t size) const;

 private:
  struct Segment {
    std::uint64_t address, offset, file_bytes, memory_bytes;
    bool writable;
  };

  void read_headers();
  void add_segment(std::uint64_t header);
  void read_dynamic();
  void add_entry(std::int64_t tag, std::uint64_t value);
  const Segment* segment_of(std::uint64_t address, std::uint64_t size) const;

  std::string_view file_;
  std::vector<Segment> segments_;                // by address, none on a page of another
  std::optional<std::uint64_t> dynamic_header_;  // where its program header lies in the file
  std::uint64_t dynamic_begin_ = 0, dynamic_bytes_ = 0;
  std::map<std::int64_t, std::uint64_t> entries_;
  std::vector<std::uint64_t> needed_;
};

}  // namespace course::grading
