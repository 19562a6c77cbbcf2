#pragma once
// Textures and surfaces: arrays that a kernel reads by coordinates, with neighbours averaged on request, or
// writes by places. For standalone programs. Arrays lie in device memory row by row.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda_runtime_api.h"
#include "simt_qualifiers.h"

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};
struct cudaChannelFormatDesc {
  int x, y, z, w;  // bits
  enum cudaChannelFormatKind f;
};

struct cudaArray;
typedef struct cudaArray* cudaArray_t;
typedef const struct cudaArray* cudaArray_const_t;
typedef struct cudaMipmappedArray* cudaMipmappedArray_t;
#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02
#define cudaArrayCubemap 0x04
#define cudaArrayTextureGather 0x08

struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaPos {
  std::size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
inline cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return {width, height, depth};
}
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, std::size_t pitch, std::size_t xsize,
                                          std::size_t ysize) {
  return {pointer, pitch, xsize, ysize};
}
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  struct cudaPos srcPos;
  struct cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  struct cudaPos dstPos;
  struct cudaPitchedPtr dstPtr;
  struct cudaExtent extent;  // in elements where an array takes part, else in bytes
  enum cudaMemcpyKind kind;
};

enum cudaResourceType {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3
};
struct cudaResourceDesc {
  enum cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      struct cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      struct cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaResourceViewDesc;

enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
struct cudaTextureDesc {
  enum cudaTextureAddressMode addressMode[3];
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2
};
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind);
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent);
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height = 0, unsigned flags = 0);
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags = 0);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array);
cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy);
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x_bytes, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                                     std::size_t from_pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                                std::size_t from_pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t to_pitch, cudaArray_const_t from, std::size_t x_bytes,
                                  std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);

/// What a texture gives: for each channel, the bits of a float or of an integer of 32 bits.
struct SimtTexel {
  std::uint32_t at[4];
};
/// By one to three coordinates; an array with layers has one of them chosen.
SimtTexel simt_texture_sample(cudaTextureObject_t object, int dimensions, float x, float y, float z,
                              int layer);
/// Element `x` of linear memory.
SimtTexel simt_texture_fetch(cudaTextureObject_t object, int x);
/// By a direction from the middle of a cube.
SimtTexel simt_texture_cubemap(cudaTextureObject_t object, float x, float y, float z);
/// Copies an element of a surface to or from `value`.
void simt_surface_read(cudaSurfaceObject_t object, void* value, std::size_t bytes, int x_bytes, int y, int z,
                       cudaSurfaceBoundaryMode mode);
void simt_surface_write(cudaSurfaceObject_t object, const void* value, std::size_t bytes, int x_bytes, int y,
                        int z, cudaSurfaceBoundaryMode mode);

}  // extern "C"

namespace simt {

/// The channels of a number or of a vector such as uchar4.
template <class T>
struct Channels {
  using Type = T;
  static constexpr int kCount = 1;
};
template <class T>
requires(std::is_class_v<T>) struct Channels<T> {
  using Type = decltype(T::x);
  static constexpr int kCount = sizeof(T) / sizeof(Type);
};

template <class T>
T from_texel(const SimtTexel& texel) {
  using Channel = typename Channels<T>::Type;
  union {  // a vector lies in memory as an array of its channels
    Channel channels[4];
    T value;
  } result{};
  for (int i = 0; i < Channels<T>::kCount; ++i) {
    if constexpr (std::is_same_v<Channel, float>)
      __builtin_memcpy(&result.channels[i], &texel.at[i], sizeof(float));
    else
      result.channels[i] = static_cast<Channel>(texel.at[i]);
  }
  return result.value;
}

}  // namespace simt

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Channel = typename simt::Channels<T>::Type;
  constexpr int kBits = 8 * sizeof(Channel), kCount = simt::Channels<T>::kCount;
  return {kBits, kCount > 1 ? kBits : 0, kCount > 2 ? kBits : 0, kCount > 3 ? kBits : 0,
          std::is_floating_point_v<Channel> ? cudaChannelFormatKindFloat
          : std::is_signed_v<Channel>       ? cudaChannelFormatKindSigned
                                            : cudaChannelFormatKindUnsigned};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }

// Each read has a form that returns the value and one that stores it.
#define SIMT_TEXTURE_READ(name, read, ...)                                      \
  template <class T>                                                            \
  __forceinline__ T name(cudaTextureObject_t texture, __VA_ARGS__) {            \
    return simt::from_texel<T>(read);                                           \
  }                                                                             \
  template <class T>                                                            \
  __forceinline__ void name(T* out, cudaTextureObject_t texture, __VA_ARGS__) { \
    *out = simt::from_texel<T>(read);                                           \
  }
SIMT_TEXTURE_READ(tex1Dfetch, (simt_texture_fetch(texture, x)), int x)
SIMT_TEXTURE_READ(tex1D, (simt_texture_sample(texture, 1, x, 0, 0, 0)), float x)
SIMT_TEXTURE_READ(tex2D, (simt_texture_sample(texture, 2, x, y, 0, 0)), float x, float y)
SIMT_TEXTURE_READ(tex3D, (simt_texture_sample(texture, 3, x, y, z, 0)), float x, float y, float z)
SIMT_TEXTURE_READ(tex1DLayered, (simt_texture_sample(texture, 1, x, 0, 0, layer)), float x, int layer)
SIMT_TEXTURE_READ(tex2DLayered, (simt_texture_sample(texture, 2, x, y, 0, layer)), float x, float y,
                  int layer)
SIMT_TEXTURE_READ(texCubemap, (simt_texture_cubemap(texture, x, y, z)), float x, float y, float z)
#undef SIMT_TEXTURE_READ

// Places on a surface: x in bytes, the others in rows and layers.
#define SIMT_SURFACE_ACCESS(kind, y, z, ...)                                                    \
  template <class T>                                                                            \
  __forceinline__ void surf##kind##write(T value, cudaSurfaceObject_t surface, __VA_ARGS__,     \
                                         cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    simt_surface_write(surface, &value, sizeof(T), x, y, z, mode);                              \
  }                                                                                             \
  template <class T>                                                                            \
  __forceinline__ T surf##kind##read(cudaSurfaceObject_t surface, __VA_ARGS__,                  \
                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {     \
    T value;                                                                                    \
    simt_surface_read(surface, &value, sizeof(T), x, y, z, mode);                               \
    return value;                                                                               \
  }
SIMT_SURFACE_ACCESS(1D, 0, 0, int x)
SIMT_SURFACE_ACCESS(2D, y, 0, int x, int y)
SIMT_SURFACE_ACCESS(3D, y, z, int x, int y, int z)
SIMT_SURFACE_ACCESS(1DLayered, 0, layer, int x, int layer)
SIMT_SURFACE_ACCESS(2DLayered, y, layer, int x, int y, int layer)
#undef SIMT_SURFACE_ACCESS

template <class T>
__forceinline__ void surf2Dread(T* out, cudaSurfaceObject_t surface, int x, int y,
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  *out = surf2Dread<T>(surface, x, y, mode);
}
