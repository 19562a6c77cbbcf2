// CUDA's built-in vector types (char1 ... double4, dim3) for a host C++ compiler.
//
// A GPU moves a float4 with one 16-byte instruction, and the simulator counts instructions, so a whole-vector
// load or store must reach memory as one access. Loads and copies already do: a copy of a trivially copyable
// aggregate is one access for g++ (with -fno-tree-sra, which keeps it whole until its members are used).
// Stores of a new value do not: `p[i] = make_float4(a, b, c, d)` writes the four members straight into p[i].
// Each vector type therefore has an assignment from a temporary that gathers the members into one
// register-sized vector and stores that. It is a template, hence not a special member function: the type
// stays a trivial aggregate, and `{1, 2, 3, 4}`, designated initialisers, structured bindings, unions and
// constant expressions behave as they do under nvcc.
//
// clang takes a local vector apart, and with it the load that fills it, unless something hides where its
// members lie. In check mode each member has an annotation that does, so loads are whole there, too. Not so a
// 16-byte vector that goes from memory straight to a function that takes it by value: two accesses of 8
// bytes.
#pragma once

#define SIMT_SHIM_INLINE __attribute__((always_inline)) inline

#if defined(__clang__) && defined(SIMT_CHECK)
#define SIMT_WHOLE __attribute__((annotate("")))
#else
#define SIMT_WHOLE
#endif

#pragma GCC diagnostic push
// The defaulted copy assignment is there only to keep an implicit move assignment from competing with the
// template.
#pragma GCC diagnostic ignored "-Wdeprecated-copy"

#define SIMT_VECTOR1(name, T) \
  struct name##1 {            \
    T x;                      \
  };                          \
  constexpr SIMT_SHIM_INLINE name##1 make_##name##1(T x) noexcept { return {x}; }

#define SIMT_VECTOR2(name, T)                                                   \
  struct alignas(2 * sizeof(T)) name##2 {                                       \
    T x SIMT_WHOLE, y SIMT_WHOLE;                                               \
    constexpr name##2 & operator=(const name##2 &) = default;                   \
    template <class = void>                                                     \
    constexpr SIMT_SHIM_INLINE name##2 & operator=(name##2 && v) noexcept {     \
      if (__builtin_is_constant_evaluated()) {                                  \
        x = v.x, y = v.y;                                                       \
      } else {                                                                  \
        typedef T Whole __attribute__((vector_size(2 * sizeof(T)), may_alias)); \
        *reinterpret_cast<Whole*>(this) = Whole{v.x, v.y};                      \
      }                                                                         \
      return *this;                                                             \
    }                                                                           \
  };                                                                            \
  constexpr SIMT_SHIM_INLINE name##2 make_##name##2(T x, T y) noexcept { return {x, y}; }

#define SIMT_VECTOR3(name, T) \
  struct name##3 {            \
    T x, y, z;                \
  };                          \
  constexpr SIMT_SHIM_INLINE name##3 make_##name##3(T x, T y, T z) noexcept { return {x, y, z}; }

#define SIMT_VECTOR4(name, T)                                                   \
  struct alignas(4 * sizeof(T)) name##4 {                                       \
    T x SIMT_WHOLE, y SIMT_WHOLE, z SIMT_WHOLE, w SIMT_WHOLE;                   \
    constexpr name##4 & operator=(const name##4 &) = default;                   \
    template <class = void>                                                     \
    constexpr SIMT_SHIM_INLINE name##4 & operator=(name##4 && v) noexcept {     \
      if (__builtin_is_constant_evaluated()) {                                  \
        x = v.x, y = v.y, z = v.z, w = v.w;                                     \
      } else {                                                                  \
        typedef T Whole __attribute__((vector_size(4 * sizeof(T)), may_alias)); \
        *reinterpret_cast<Whole*>(this) = Whole{v.x, v.y, v.z, v.w};            \
      }                                                                         \
      return *this;                                                             \
    }                                                                           \
  };                                                                            \
  constexpr SIMT_SHIM_INLINE name##4 make_##name##4(T x, T y, T z, T w) noexcept { return {x, y, z, w}; }

// 32 bytes: the widest access of the GPUs simulated here is 16 bytes, so a store is two of them.
#define SIMT_VECTOR4_WIDE(name, T, suffix, alignment)                                              \
  struct alignas(alignment) name##4##suffix {                                                      \
    T x SIMT_WHOLE, y SIMT_WHOLE, z SIMT_WHOLE, w SIMT_WHOLE;                                      \
    constexpr name##4##suffix& operator=(const name##4##suffix&) = default;                        \
    template <class = void>                                                                        \
    constexpr SIMT_SHIM_INLINE name##4##suffix& operator=(name##4##suffix&& v) noexcept {          \
      if (__builtin_is_constant_evaluated()) {                                                     \
        x = v.x, y = v.y, z = v.z, w = v.w;                                                        \
      } else {                                                                                     \
        typedef T Half __attribute__((vector_size(16), may_alias));                                \
        const Half low = {v.x, v.y}, high = {v.z, v.w};                                            \
        reinterpret_cast<Half*>(this)[0] = low;                                                    \
        reinterpret_cast<Half*>(this)[1] = high;                                                   \
      }                                                                                            \
      return *this;                                                                                \
    }                                                                                              \
  };                                                                                               \
  constexpr SIMT_SHIM_INLINE name##4##suffix make_##name##4##suffix(T x, T y, T z, T w) noexcept { \
    return {x, y, z, w};                                                                           \
  }

#define SIMT_VECTORS(name, T) \
  SIMT_VECTOR1(name, T) SIMT_VECTOR2(name, T) SIMT_VECTOR3(name, T) SIMT_VECTOR4(name, T)
// CUDA 13 names the alignment of a 32-byte vector; the plain name keeps the older 16 bytes.
#define SIMT_VECTORS_64(name, T)       \
  SIMT_VECTOR1(name, T)                \
  SIMT_VECTOR2(name, T)                \
  SIMT_VECTOR3(name, T)                \
  SIMT_VECTOR4_WIDE(name, T, , 16)     \
  SIMT_VECTOR4_WIDE(name, T, _16a, 16) \
  SIMT_VECTOR4_WIDE(name, T, _32a, 32)

SIMT_VECTORS(char, signed char)
SIMT_VECTORS(uchar, unsigned char)
SIMT_VECTORS(short, short)
SIMT_VECTORS(ushort, unsigned short)
SIMT_VECTORS(int, int)
SIMT_VECTORS(uint, unsigned int)
SIMT_VECTORS(float, float)
SIMT_VECTORS_64(long, long)
SIMT_VECTORS_64(ulong, unsigned long)
SIMT_VECTORS_64(longlong, long long)
SIMT_VECTORS_64(ulonglong, unsigned long long)
SIMT_VECTORS_64(double, double)

#undef SIMT_VECTORS_64
#undef SIMT_VECTORS
#undef SIMT_VECTOR4_WIDE
#undef SIMT_VECTOR4
#undef SIMT_VECTOR3
#undef SIMT_VECTOR2
#undef SIMT_VECTOR1
#undef SIMT_WHOLE

#pragma GCC diagnostic pop

/// Extents of a grid or a block; what is left out is 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_extent = 1, unsigned int y_extent = 1, unsigned int z_extent = 1) noexcept
      : x(x_extent), y(y_extent), z(z_extent) {}
  constexpr dim3(uint3 v) noexcept : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const noexcept { return {x, y, z}; }
};
