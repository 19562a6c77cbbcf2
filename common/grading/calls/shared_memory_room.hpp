#pragma once
// Compiled into every kernel library, in an object that is linked behind the kernel.

#if __has_cpp_attribute(gnu::retain)
#define COURSE_RETAINED [[gnu::used, gnu::retain]]  // also where the linker drops what nothing refers to
#else
#define COURSE_RETAINED [[gnu::used]]
#endif

/// @brief Leaves room behind the kernel's `__shared__` variables, which the simulator keeps in thread-local
/// storage. What a kernel writes past the end of the last array then damages nothing else, and the call comes
/// back to be diagnosed.
#define COURSE_ROOM_BEHIND_SHARED_MEMORY                                  \
  namespace {                                                             \
  COURSE_RETAINED thread_local char room_behind_shared_memory[64 * 1024]; \
  }                                                                       \
  static_assert(true, "takes the semicolon")
