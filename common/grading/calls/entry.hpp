#pragma once
// Compiled into every kernel library: how the worker finds and calls the functions of a contract.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "grading/calls/shared_memory_room.hpp"

namespace course::grading {

/// One function of a contract, callable without knowing its type.
struct EntryRecord {
  const char* name;       ///< without namespace
  const char* signature;  ///< typeid of the function type: a stale library must not be called
  /// arguments[i] points to the bytes of the i-th parameter.
  void (*invoke)(void* const* arguments);
};

struct EntryTable {
  std::uint32_t version;
  std::uint32_t count;
  const EntryRecord* entries;
};

inline constexpr std::uint32_t kEntryTableVersion = 1;

/// The one symbol that the worker looks up.
inline constexpr const char* kEntryTableSymbol = "course_entries";

template <auto kFunction>
struct Thunk;

template <class... Parameters, void (*kFunction)(Parameters...)>
struct Thunk<kFunction> {
  static_assert((!std::is_reference_v<Parameters> && ...),
                "a contract takes numbers, pointers and Views by value");
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "a contract's parameters must be copyable byte by byte");

  static void invoke(void* const* arguments) { spread(arguments, std::index_sequence_for<Parameters...>{}); }

  static constexpr EntryRecord record(const char* qualified_name) {
    const char* name = qualified_name;
    for (const char* c = qualified_name; *c != '\0'; ++c)
      if (*c == ':') name = c + 1;
    return {name, typeid(void(Parameters...)).name(), &invoke};
  }

 private:
  template <std::size_t... kIndex>
  static void spread([[maybe_unused]] void* const* arguments, std::index_sequence<kIndex...>) {
    kFunction(*static_cast<std::remove_const_t<Parameters>*>(arguments[kIndex])...);
  }
};

}  // namespace course::grading

#define COURSE_ENTRY(function) ::course::grading::Thunk<&function>::record(#function)

/// @brief A function of that name, visible outside of the library, that returns the table of these entries.
#define COURSE_ENTRY_TABLE(name, ...)                                                                   \
  extern "C" __attribute__((visibility("default"))) const ::course::grading::EntryTable* name() {       \
    static const ::course::grading::EntryRecord records[] = {__VA_ARGS__};                              \
    static const ::course::grading::EntryTable table = {::course::grading::kEntryTableVersion,          \
                                                        sizeof(records) / sizeof(records[0]), records}; \
    return &table;                                                                                      \
  }

/// @brief Exports the table of a library's entries: COURSE_ENTRIES(COURSE_ENTRY(course::vector_add), ...)
/// Also leaves room behind the kernel's `__shared__` variables: this object is linked behind the kernel.
#define COURSE_ENTRIES(...)                       \
  COURSE_ENTRY_TABLE(course_entries, __VA_ARGS__) \
  COURSE_ROOM_BEHIND_SHARED_MEMORY
