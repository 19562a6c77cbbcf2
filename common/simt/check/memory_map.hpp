#pragma once
/// @file
/// What lies where in the two windows of memory, and what it is called: allocations, variables, the arrays
/// that a kernel got as its parameters.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "simt/check/event.hpp"
#include "simt/check/source_names.hpp"
#include "simt/runtime/memory.hpp"
#include "simt/runtime/shared_memory.hpp"
#include "simt/shim/simt_abi.h"

namespace simt::check {

/// Memory of the global window that kernels may use.
struct GlobalRange {
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t serial = 0;             ///< of a device allocation; 0 for other memory
  const CallStack* caller = nullptr;    ///< of its cudaMalloc
  const ByteRanges* written = nullptr;  ///< what the host wrote; null: take all of it as written
  std::string symbol = {};              ///< of a variable
  bool host_sees = false;               ///< the host reads without a copy what kernels leave there
  const std::byte* shared = nullptr;    ///< where managed or page-locked memory begins

  std::uint64_t end() const { return offset + bytes; }
  bool contains(std::uint64_t begin, std::uint64_t size) const {
    return begin >= offset && begin + size <= end();
  }
};

/// How the elements of a strided view lie, in elements; both empty if that is not known.
struct ViewLayout {
  std::vector<std::int64_t> shape, strides;
};

/// A view is a pointer or a reference into dynamic shared memory, or a member of the object that lies there.
enum class NameOf { variable, view };

struct Recorder;

/// @brief Of each byte of a class whether it belongs to a member. Empty if that is not known. The function is
/// the kernel's module's: the running thread calls it, and the launch ends if it touches anything else.
std::vector<bool> values_of(std::size_t object_bytes, SimtMarkValues mark_values, Recorder& recorder);

/// A name for memory, with the shape of its elements.
struct ArrayName {
  std::string name;
  std::uint64_t offset = 0;  ///< in its window
  std::uint64_t bytes = 0;   ///< 0: unknown, up to the end of what it lies in
  std::size_t element_bytes = 1;
  std::vector<std::size_t> extents;  ///< empty: a scalar. The first may be 0: unknown
  const char* source = nullptr;      ///< the name in the kernel's own memory
  ViewLayout view = {};              ///< of a parameter that is a strided view
  NameOf what = NameOf::variable;
  std::string member = {};        ///< ".at" of `smem.K[2].at[5]`: the array that each element consists of
  std::size_t member_rank = 0;    ///< how many of the extents are that array's
  std::vector<bool> values = {};  ///< of each object there: see values_of()
  bool moves = false;             ///< of a view: not at the same place for all threads, and so of no use

  bool holds(std::uint64_t at) const { return bytes != 0 && at >= offset && at - offset < bytes; }
};

/// A `__shared__` variable, or the dynamic buffer.
struct SharedRange {
  std::uint64_t offset = 0, bytes = 0;
  std::string symbol;              ///< mangled; empty for the dynamic buffer
  bool watched = true;             ///< false: a variable of the simulator's own
  bool reached = true;             ///< false: no thread of the launch has come to a function that declares it
  std::string function = {};       ///< that declares it
  bool points_to_dynamic = false;  ///< it is the pointer that an array of dynamic shared memory becomes

  bool holds(std::uint64_t begin, std::uint64_t end) const {
    return reached && begin >= offset && end <= offset + bytes;
  }
};

/// An element in words: "tile[3][5]", and its place for a trace.
struct ElementName {
  std::string array;  ///< empty if unknown
  std::vector<std::int64_t> index;
  std::int64_t offset = 0;        ///< bytes from the array's start, or from its range's
  std::size_t element_bytes = 0;  ///< 0: unknown
  std::string text;
  bool by_source = false;  ///< of the names that this memory has, the one that the source uses there
  std::string also;        ///< other arrays in the same memory; not if `by_source`

  /// "smem.K.at[3][8] (which is smem.P's memory, too)"
  std::string full_text() const;
};

class MemoryMap {
 public:
  /// `beside`: a little before or behind memory of the kernels. `program`: of a program or a library, and no
  /// variable that kernels may have, or the arguments of the launch; they read constants there. `freed`: a
  /// kernel of this launch has given it back.
  enum class Owner { kernels, beside, program, nobody, host, freed };

  /// Learns what is allocated now, and where the kernel's variables are.
  void begin_launch(const KernelModule& module, std::size_t dynamic_bytes, const void* arguments,
                    std::size_t arguments_bytes);

  /// Whose memory an address is that is neither in the arena nor in shared memory. `offset`: its place in the
  /// global window if kernels may use it. Cost: a binary search.
  Owner find_elsewhere(std::uintptr_t address, std::uint64_t& offset) const;

  const std::deque<GlobalRange>& global_ranges() const { return global_; }
  std::uint64_t end_of_elsewhere() const { return next_offset_; }  ///< of the global window
  const GlobalRange* find_global(std::uint64_t offset) const;
  const SharedRange* find_shared(std::uint64_t offset) const;

  const std::vector<SharedRange>& shared_ranges() const { return shared_; }
  /// @brief Takes the shared variables of a function as the launch's if that is one of these calls. Variables
  /// with names need no such look: threads tell of them as they come to their declarations. Others have none,
  /// such as those behind a macro.
  /// @return Whether it did.
  bool reach_unnamed(const SharedRange& variable, const std::vector<SourceCall>& calls);

  void name_shared(ArrayName name);
  /// True if name_shared() has nothing to learn from that name there. Cheap.
  bool knows_shared(const char* source, std::uint64_t offset) const;
  void name_global(std::uintptr_t address, const char* name, std::size_t element_bytes, ViewLayout view = {},
                   std::vector<bool> values = {});

  /// What the access hits or, if it is out of bounds, what it was most likely meant to hit.
  /// Of several names for the same shared memory, the one that `source` mentions first.
  ElementName element(Space space, std::uint64_t offset, unsigned bytes,
                      const SourceTexts& source = {}) const;
  /// A sentence's end on a range: "which has 1000 elements (4000 bytes, allocated at main.cu:40)".
  std::string describe_bounds(Space space, std::uint64_t offset) const;
  /// Whether a place of shared memory lies past the end of the buffer that the launch gave the block.
  bool past_dynamic(std::uint64_t offset) const;

  /// @brief "dP, of shape (20, 140) and strides (147, 1)" if this place of the global window lies between the
  /// elements of such a view, which is a parameter of the kernel, and belongs to none; else "".
  std::string gap(std::uint64_t offset) const;

  /// @brief Whether these bytes are padding of a class by whose type the kernel knows this memory: no member
  /// lies there. Nothing if it knows the memory by no such type.
  std::optional<bool> is_padding(Space space, std::uint64_t offset, unsigned bytes) const;

  const std::vector<ArrayName>& shared_names() const { return shared_names_; }
  const std::vector<ArrayName>& global_names() const { return global_names_; }  ///< the kernel's parameters
  bool is_pointer_name(const std::string& name) const;                          ///< a parameter of the kernel

  // Memory that a kernel got from malloc or new. Each piece has a place of its own in the global window, up
  // to the next launch: two pieces may have had one address after each other.
  void add_kernel_heap(std::uintptr_t address, std::size_t bytes);
  /// @return Who had it, which is to be a kernel.
  Owner free_kernel_heap(std::uintptr_t address);

 private:
  struct Elsewhere {
    std::uintptr_t begin = 0, end = 0;
    Owner owner = Owner::nobody;
    std::uint64_t offset = 0;
  };
  void add_elsewhere(std::uintptr_t begin, std::size_t bytes, Owner owner, GlobalRange range);
  /// Gives kernels' memory a place in the global window, with `margin` bytes behind it. False: it is full.
  bool add_to_window(Elsewhere& place, std::size_t margin, GlobalRange range);
  void reach(const std::string& function);
  const GlobalRange* nearest_global(std::uint64_t offset) const;
  const SharedRange* nearest_shared(std::uint64_t offset) const;
  struct Choice {
    const ArrayName* name = nullptr;
    bool by_source = false;
    std::vector<const ArrayName*> others = {};  ///< arrays that lie there, too
  };
  Choice name_for(Space space, std::uint64_t offset, std::uint64_t begin, std::uint64_t end,
                  const SourceTexts& source = {}) const;

  std::deque<GlobalRange> global_;      ///< by offset; they stay where they are while a launch adds others
  std::vector<SharedRange> shared_;     ///< by offset
  std::vector<Elsewhere> elsewhere_;    ///< by address, disjoint
  std::vector<Elsewhere> segments_;     ///< of programs and libraries, by address
  std::vector<Elsewhere> kernel_heap_;  ///< by address
  std::vector<ArrayName> global_names_, shared_names_;
  std::uint64_t next_offset_ = kArenaBytes;
};

/// There is one device, and one launch at a time.
MemoryMap& memory_map();

}  // namespace simt::check
