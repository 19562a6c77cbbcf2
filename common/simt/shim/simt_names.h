#pragma once
// The names of shared variables and kernel parameters, which check mode quotes in its reports: `tile[3][5]`.
// The rewriter writes these macros behind every `__shared__` declaration of a function, wherever dynamic
// shared memory gets another name or type, and at the start of every kernel. Only the check flavour of a
// kernel does anything there.

#include "simt_abi.h"

// Tells the pointer that `extern __shared__ T name[]` outside of functions becomes from `__shared__`
// variables.
#define SIMT_TEXT_OF(value) #value
#define SIMT_NUMBERED_LABEL(number) __asm__(SIMT_LABEL_OF_DYNAMIC SIMT_TEXT_OF(number))
#define SIMT_DYNAMIC_LABEL SIMT_NUMBERED_LABEL(__COUNTER__)

// The bytes of this variable are how many threads a block may have: the runtime finds it by its symbol.
#define SIMT_LAUNCH_BOUNDS(threads) \
  [[maybe_unused, gnu::used]] static constexpr unsigned char simt_launch_bounds[threads] = {}

#ifndef SIMT_CHECK

#define SIMT_DYNAMIC_SHARED static thread_local
#define SIMT_NAME_SHARED(variable)
#define SIMT_NAME_VIEW(variable)
#define SIMT_NAME_MEMBER(variable, access, member)
#define SIMT_SEEN_AS(pointer, variable, names, ...) pointer
#define SIMT_NAME_PARAMETERS(...)
#define SIMT_PARAMETER(variable)

#else

#include <cstddef>
#include <type_traits>
#include <utility>

#include "simt_qualifiers.h"

// Their own functions, not instrumented, and calls that do not throw: a kernel gets neither a branch nor an
// access on account of its names.
#ifdef __clang__
#define SIMT_NOT_INSTRUMENTED __attribute__((disable_sanitizer_instrumentation, no_sanitize("coverage")))
#else
#define SIMT_NOT_INSTRUMENTED \
  __attribute__((no_sanitize_coverage, no_sanitize("thread"), no_sanitize("undefined")))
#endif

extern "C" {

/// Nonzero for the first thread of a launch.
__attribute__((nothrow)) int simt_wants_names(void);

/// Names a shared variable of the running block; every thread calls it.
__attribute__((nothrow)) void simt_name_shared(const void* address, const char* name, const SimtArray* array);

/// Names a part of dynamic shared memory, or does nothing if the address lies elsewhere. Every thread calls
/// it.
__attribute__((nothrow)) void simt_name_view(const void* address, const char* name, const SimtArray* array);

/// Names what a kernel's parameter points to. A strided view also has a shape and strides in elements: `rank`
/// numbers each, one after the other. A plain pointer has rank 0.
__attribute__((nothrow)) void simt_name_pointer(const void* address, const char* name,
                                                std::size_t element_bytes, SimtMarkValues mark_values,
                                                int rank, const long long* shape_and_strides);

}  // extern "C"

namespace simt {

// Compilers other than g++ do not tell which bytes of a class are padding.
#if defined(__GNUC__) && !defined(__clang__)
#define SIMT_KNOWS_PADDING
#endif

#ifdef SIMT_KNOWS_PADDING
/// An object of the class without a constructor's help, because it needs none to have padding. The compiler
/// fills it with a pattern, except for padding, which it clears. It does so at the start, and a constructor
/// that ended what was there before (lifetime-dse) would undo it. __builtin_clear_padding() refuses classes
/// with a flexible array member.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
template <class T>
__attribute__((optimize("trivial-auto-var-init=pattern", "lifetime-dse=0"))) void mark_values_of(
    unsigned char* bytes) {
  union Object {
    T value;
    Object() {}
    ~Object() {}
  } object;
  __builtin_memcpy(bytes, static_cast<const void*>(&object), sizeof object);
}
#pragma GCC diagnostic pop
#endif

/// How to learn which bytes of a class hold a value; null for other types, and where that is not known.
template <class T>
constexpr SimtMarkValues mark_values() {
#ifdef SIMT_KNOWS_PADDING
  constexpr std::size_t kMostBytes = 4096;  // on the stack of a kernel's thread
  using Class = std::remove_cv_t<T>;
  if constexpr (std::is_class_v<Class> || std::is_union_v<Class>)
    if constexpr (requires { requires sizeof(Class) <= kMostBytes && !std::is_abstract_v<Class>; })
      return &mark_values_of<Class>;
#endif
  return nullptr;
}

/// The array that a class consists of, such as the `at` of a tile; otherwise none.
template <class T>
struct OnlyMember {
  using Array = T;
  static constexpr const char* kName = "";
};
template <class T>
requires(std::is_array_v<decltype(T::at)> && sizeof(T::at) == sizeof(T)) struct OnlyMember<T> {
  using Array = decltype(T::at);
  static constexpr const char* kName = ".at";
};

/// Rank, extents and element size of an array, known to the compiler.
template <class T>
struct Shape {
  using Outer = std::remove_all_extents_t<T>;
  using Member = typename OnlyMember<Outer>::Array;
  using Element = std::remove_all_extents_t<Member>;
  static constexpr int kMemberRank = static_cast<int>(std::rank_v<Member>);
  static constexpr int kRank = static_cast<int>(std::rank_v<T>) + kMemberRank;
  struct Extents {
    std::size_t of[kRank == 0 ? 1 : kRank];
  };

  template <class Array, std::size_t kDimension = 0>
  static constexpr void fill(Extents& extents) {
    if constexpr (std::is_array_v<Array>) {
      extents.of[kDimension] = std::extent_v<Array>;
      fill<std::remove_extent_t<Array>, kDimension + 1>(extents);
    }
  }
  static constexpr Extents kExtents = [] {
    Extents extents{};
    fill<T>(extents);
    fill<Member, std::rank_v<T> >(extents);
    return extents;
  }();
  static constexpr SimtArray kArray = {sizeof(Element),          kRank,       kMemberRank,
                                       OnlyMember<Outer>::kName, kExtents.of, sizeof(Outer),
                                       mark_values<Outer>()};
};

/// Takes the variable's address and reads nothing. A constant pointer is one that the rewriter made of
/// dynamic shared memory: that is named itself.
template <class T>
__forceinline__ void name_shared(T& variable, const char* name) {
  const volatile void* address = nullptr;
  if constexpr (std::is_pointer_v<T> && std::is_const_v<T>) {
    address = variable;
    simt_name_shared(const_cast<const void*>(address), name, &Shape<std::remove_pointer_t<T>[]>::kArray);
  } else {
    address = __builtin_addressof(variable);
    simt_name_shared(const_cast<const void*>(address), name, &Shape<T>::kArray);
  }
}

/// A class that has members to be named by, and is no array itself.
template <class T>
constexpr bool kHasParts = (std::is_class_v<T> || std::is_union_v<T>)&&Shape<T>::kRank == 0;

/// A pointer or a reference into dynamic shared memory, and nothing else.
template <class Declared>
__forceinline__ void name_view(std::remove_reference_t<Declared>& variable, const char* name) {
  using T = std::remove_reference_t<Declared>;
  if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_pointer_t<T>;
    if constexpr (requires { sizeof(Target); } && std::is_object_v<Target>) {
      const volatile void* const address = variable;
      simt_name_view(const_cast<const void*>(address), name, &Shape<Target[]>::kArray);
    }
  } else if constexpr (std::is_reference_v<Declared> && std::is_object_v<T> && !kHasParts<T>) {
    const volatile void* const address = __builtin_addressof(variable);
    simt_name_view(const_cast<const void*>(address), name, &Shape<T>::kArray);
  }
}

template <class T>
__forceinline__ T& object_of(T& object) {
  return object;
}
template <class T>
requires(std::is_object_v<T>) __forceinline__ T& object_of(T* object) { return *object; }

template <class T, class Naming>
__forceinline__ T* seen_as(T* pointer, Naming naming) {
  naming(const_cast<void*>(static_cast<const volatile void*>(pointer)));
  return pointer;
}

/// A name as a type: "tile"_simt_name. C++17, which some programs are written in, has no strings as template
/// arguments.
template <class Char, Char... kCharacters>
struct Name {
  static constexpr Char text[] = {kCharacters..., 0};
};

/// A kernel's parameter, or the member `data` of one, that points to elements of `kElementBytes`.
template <class Named, std::size_t kElementBytes, SimtMarkValues kMark>
struct NamedPointer {
  const volatile void* address;
  SIMT_NOT_INSTRUMENTED void tell() const {
    simt_name_pointer(const_cast<const void*>(address), Named::text, kElementBytes, kMark, 0, nullptr);
  }
};

/// The member `data` of a parameter that has arrays `shape` and `strides` beside it.
template <class Named, std::size_t kElementBytes, SimtMarkValues kMark, int kRank>
struct NamedView {
  const volatile void* address;
  long long shape_and_strides[2 * kRank];
  SIMT_NOT_INSTRUMENTED void tell() const {
    simt_name_pointer(const_cast<const void*>(address), Named::text, kElementBytes, kMark, kRank,
                      shape_and_strides);
  }
};

/// Whether a class has arrays of integers `shape` and `strides`, one as long as the other.
template <class T>
constexpr bool is_strided_view() {
  if constexpr (requires {
                  T::shape;
                  T::strides;
                }) {
    using Sizes = decltype(T::shape);
    using Strides = decltype(T::strides);
    using Size = std::remove_extent_t<Sizes>;
    using Stride = std::remove_extent_t<Strides>;
    return std::rank_v<Sizes> == 1 && std::extent_v<Sizes> != 0 && std::rank_v<Strides> == 1 &&
           std::extent_v<Sizes> == std::extent_v<Strides> && std::is_integral_v<Size> &&
           std::is_integral_v<Stride>;
  } else {
    return false;
  }
}

/// A parameter that has nothing to name.
struct Unnamed {
  SIMT_NOT_INSTRUMENTED void tell() const {}
};

template <class T>
constexpr std::size_t element_bytes() {
  if constexpr (requires { sizeof(T); } && !std::is_void_v<T>) {
    return sizeof(T);
  } else {
    return 1;
  }
}

/// Without a loop: that would be a branch of the kernel's.
template <class Named, class Element, class T, std::size_t... kAxis>
__forceinline__ auto strided_view(const T& object, std::index_sequence<kAxis...>) {
  return NamedView<Named, element_bytes<Element>(), mark_values<Element>(),
                   static_cast<int>(sizeof...(kAxis))>{
      object.data,
      {static_cast<long long>(object.shape[kAxis])..., static_cast<long long>(object.strides[kAxis])...}};
}

template <class Named, class Member, class T>
__forceinline__ auto parameter(T* pointer) {
  if constexpr (std::is_function_v<T>) {
    return Unnamed{};
  } else {
    return NamedPointer<Named, element_bytes<T>(), mark_values<T>()>{pointer};
  }
}

template <class Named, class Member, class T>
requires(!std::is_class_v<T> && !std::is_union_v<T>) __forceinline__ auto parameter(T) { return Unnamed{}; }

template <class Named, class Member, class T>
requires(std::is_class_v<T> || std::is_union_v<T>) __forceinline__ auto parameter(const T& object) {
  if constexpr (requires { requires std::is_pointer_v<decltype(T::data)>; }) {
    using Target = std::remove_pointer_t<decltype(T::data)>;
    if constexpr (is_strided_view<T>() && !std::is_function_v<Target>) {
      constexpr std::size_t kRank = std::extent_v<decltype(T::shape)>;
      return strided_view<Member, Target>(object, std::make_index_sequence<kRank>{});
    } else {
      return parameter<Member, Member>(object.data);
    }
  } else {
    return Unnamed{};
  }
}

template <class... Parameters>
__attribute__((noinline)) SIMT_NOT_INSTRUMENTED void name_once_a_launch(Parameters... parameters) noexcept {
  if (simt_wants_names() != 0) (parameters.tell(), ...);
}

template <class... Parameters>
__forceinline__ void name_parameters(Parameters... parameters) {
  if constexpr ((!std::is_same_v<Parameters, Unnamed> || ...)) name_once_a_launch(parameters...);
}

}  // namespace simt
#undef SIMT_NOT_INSTRUMENTED
#undef SIMT_KNOWS_PADDING

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // g++ and clang have such operators, the standard has not
template <class Char, Char... kCharacters>
constexpr simt::Name<Char, kCharacters...> operator""_simt_name() {
  return {};
}
#pragma GCC diagnostic pop

// Not static: neither the pointer nor the guard of its initialisation may appear among the kernel's accesses.
#define SIMT_DYNAMIC_SHARED
#define SIMT_NAME_SHARED(variable) ::simt::name_shared(variable, #variable)
#define SIMT_NAME_VIEW(variable) ::simt::name_view<decltype(variable)>(variable, #variable)
// A lambda of its own makes a word that is no member of that type no error.
#define SIMT_NAME_MEMBER(variable, access, name)                                                  \
  [](auto& simt_object) __attribute__((always_inline)) {                                          \
    if constexpr (requires { &simt_object.name; })                                                \
      ::simt::name_view<decltype((simt_object.name))>(simt_object.name, #variable #access #name); \
  }                                                                                               \
  (::simt::object_of(variable))
// The pointer, whose target is called `variable` where it goes; the type comes last.
#define SIMT_SEEN_AS(pointer, variable, names, ...)               \
  ::simt::seen_as(                                                \
      pointer, [](void* simt_at) __attribute__((always_inline)) { \
        auto& variable = *static_cast<__VA_ARGS__*>(simt_at);     \
        names;                                                    \
      })
#define SIMT_NAME_PARAMETERS(...) ::simt::name_parameters(__VA_ARGS__)
#define SIMT_PARAMETER(variable)                                                 \
  ::simt::parameter<decltype(#variable ""_simt_name), decltype(#variable ".data" \
                                                                         ""_simt_name)>(variable)

#endif
