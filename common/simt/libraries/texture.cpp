// Textures and surfaces. A texture's accesses are not judged: coordinates have no bounds, and a GPU's cache
// of them has lines of a form that nobody tells.

#include "simt/shim/simt_texture.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "simt/shim/simt_abi.h"

struct cudaArray {
  unsigned char* data;
  cudaChannelFormatDesc format;
  cudaExtent extent;  ///< as asked for: 0 where it lacks a dimension
  unsigned flags;
};

namespace {

std::size_t element_bytes(const cudaChannelFormatDesc& format) {
  return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
}
std::size_t row_bytes(const cudaArray& array) { return array.extent.width * element_bytes(array.format); }
std::size_t rows_of(const cudaExtent& extent) { return std::max<std::size_t>(extent.height, 1); }
std::size_t slices_of(const cudaExtent& extent) { return std::max<std::size_t>(extent.depth, 1); }
unsigned char* place_in(const cudaArray& array, std::size_t x_bytes, std::size_t y, std::size_t z = 0) {
  return array.data + (z * rows_of(array.extent) + y) * row_bytes(array) + x_bytes;
}
bool has_room(const cudaArray* array, std::size_t x_bytes, std::size_t y, std::size_t width,
              std::size_t height) {
  return array != nullptr && x_bytes + width <= row_bytes(*array) && y + height <= rows_of(array->extent);
}

/// Elements in rows, as a texture or a surface has them.
struct Elements {
  unsigned char* data = nullptr;
  std::size_t pitch = 0, slice = 0;  ///< in bytes
  int extent[3] = {1, 1, 1};
  cudaChannelFormatDesc format{};
};

struct Texture : Elements {
  cudaTextureDesc how{};
};

/// False: not a kind of resource that is simulated.
bool describe(Elements& elements, const cudaResourceDesc& resource) {
  const auto set = [&](void* data, const cudaChannelFormatDesc& format, std::size_t pitch,
                       cudaExtent extent) {
    elements.data = static_cast<unsigned char*>(data);
    elements.format = format;
    elements.pitch = pitch;
    elements.slice = pitch * rows_of(extent);
    elements.extent[0] = static_cast<int>(extent.width);
    elements.extent[1] = static_cast<int>(rows_of(extent));
    elements.extent[2] = static_cast<int>(slices_of(extent));
    return data != nullptr && element_bytes(format) != 0;
  };
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const cudaArray* const array = resource.res.array.array;
      return array != nullptr && set(array->data, array->format, row_bytes(*array), array->extent);
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      if (element_bytes(linear.desc) == 0) return false;
      return set(linear.devPtr, linear.desc, linear.sizeInBytes,
                 {linear.sizeInBytes / element_bytes(linear.desc), 0, 0});
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = resource.res.pitch2D;
      return set(rows.devPtr, rows.desc, rows.pitchInBytes, {rows.width, rows.height, 0});
    }
    case cudaResourceTypeMipmappedArray:
      break;
  }
  return false;
}

float float_of_half(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<float>(bits & 1023);
  const float value = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? HUGE_VALF : NAN)
                                       : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// One channel as the texture gives it: integers grow to 32 bits, or become floats up to 1.
std::uint32_t channel(const Texture& texture, const unsigned char* at) {
  const int bits = texture.format.x;
  std::uint32_t raw = 0;
  std::memcpy(&raw, at, static_cast<std::size_t>(bits) / 8);  // the host is little-endian
  if (texture.format.f == cudaChannelFormatKindFloat) return bits == 16 ? bits_of(float_of_half(raw)) : raw;
  const bool is_signed = texture.format.f == cudaChannelFormatKindSigned;
  const auto extended = static_cast<std::int32_t>(raw << (32 - bits)) >> (32 - bits);
  if (texture.how.readMode == cudaReadModeElementType || bits == 32)
    return is_signed ? static_cast<std::uint32_t>(extended) : raw;
  const auto largest = static_cast<float>((1u << (is_signed ? bits - 1 : bits)) - 1);
  return bits_of(is_signed ? std::max(static_cast<float>(extended) / largest, -1.0f)
                           : static_cast<float>(raw) / largest);
}

/// The element at a place inside of the texture.
SimtTexel element(const Texture& texture, const int (&at)[3]) {
  const auto count = element_bytes(texture.format) * 8 / static_cast<std::size_t>(texture.format.x);
  const unsigned char* from = texture.data + static_cast<std::size_t>(at[2]) * texture.slice +
                              static_cast<std::size_t>(at[1]) * texture.pitch +
                              static_cast<std::size_t>(at[0]) * element_bytes(texture.format);
  SimtTexel texel{};
  for (std::size_t c = 0; c < count; ++c)
    texel.at[c] = channel(texture, from + c * static_cast<std::size_t>(texture.format.x) / 8);
  return texel;
}

SimtTexel border(const Texture& texture) {
  SimtTexel texel{};
  for (int c = 0; c < 4; ++c) texel.at[c] = bits_of(texture.how.borderColor[c]);
  return texel;
}

/// The place in a row of `count` that stands for one outside of it; -1 for the border.
int wrapped(int at, int count, cudaTextureAddressMode mode, bool normalized) {
  if (at >= 0 && at < count) return at;
  if (mode == cudaAddressModeBorder) return -1;
  const auto modulo = [](int a, int b) { return (a % b + b) % b; };
  if (normalized && mode == cudaAddressModeWrap) return modulo(at, count);
  if (normalized && mode == cudaAddressModeMirror) {
    const int there_and_back = modulo(at, 2 * count);
    return there_and_back < count ? there_and_back : 2 * count - 1 - there_and_back;
  }
  return std::clamp(at, 0, count - 1);
}

/// The nearest element, or a weighted sum of the 2, 4 or 8 around the place. Weights have 8 bits, as on a
/// GPU.
SimtTexel sample(const Texture& texture, int dimensions, const float (&coordinates)[3], int layer) {
  constexpr float kFarAway = 1 << 29;
  const bool normalized = texture.how.normalizedCoords != 0;
  const bool linear = texture.how.filterMode == cudaFilterModeLinear;
  int first[3] = {0, 0, std::clamp(layer, 0, texture.extent[2] - 1)};
  float behind[3] = {};  // the weight of the next element
  for (int d = 0; d < dimensions; ++d) {
    float x = coordinates[d];
    if (normalized && texture.how.addressMode[d] == cudaAddressModeWrap) x -= std::floor(x);
    if (normalized) x *= static_cast<float>(texture.extent[d]);
    if (linear) x -= 0.5f;
    x = std::isnan(x) ? 0 : std::clamp(x, -kFarAway, kFarAway);
    const float whole = std::floor(x);
    first[d] = static_cast<int>(whole);
    if (linear) behind[d] = std::round((x - whole) * 256) / 256;
  }
  SimtTexel result{};
  float sums[4] = {};
  for (unsigned corner = 0; corner < (linear ? 1u << dimensions : 1u); ++corner) {
    float weight = 1;
    int at[3] = {0, 0, first[2]};
    bool inside = true;
    for (int d = 0; d < dimensions; ++d) {
      const bool next = (corner >> d & 1) != 0;
      weight *= next ? behind[d] : 1 - behind[d];
      at[d] = wrapped(first[d] + (next ? 1 : 0), texture.extent[d], texture.how.addressMode[d], normalized);
      inside = inside && at[d] >= 0;
    }
    if (weight == 0) continue;
    result = inside ? element(texture, at) : border(texture);
    for (int c = 0; c < 4; ++c) sums[c] += weight * float_of(result.at[c]);
  }
  for (int c = 0; linear && c < 4; ++c) result.at[c] = bits_of(sums[c]);
  return result;
}

const Texture& texture_of(cudaTextureObject_t object) { return *reinterpret_cast<const Texture*>(object); }

/// Where the element of a surface lies. Null: outside of it, and nothing is to be done there.
unsigned char* place_on(cudaSurfaceObject_t object, std::size_t bytes, int x, int y, int z,
                        cudaSurfaceBoundaryMode mode) {
  const auto& surface = *reinterpret_cast<const Elements*>(object);
  const int last[3] = {static_cast<int>(surface.pitch) - static_cast<int>(bytes), surface.extent[1] - 1,
                       surface.extent[2] - 1};
  const bool inside = x >= 0 && x <= last[0] && y >= 0 && y <= last[1] && z >= 0 && z <= last[2];
  if (!inside && mode == cudaBoundaryModeTrap) simt_trap();
  if (!inside && mode == cudaBoundaryModeZero) return nullptr;
  x = std::clamp(x, 0, last[0]), y = std::clamp(y, 0, last[1]), z = std::clamp(z, 0, last[2]);
  return surface.data + static_cast<std::size_t>(z) * surface.slice +
         static_cast<std::size_t>(y) * surface.pitch + static_cast<std::size_t>(x);
}

}  // namespace

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  *pointer = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, rows_of(extent) * slices_of(extent));
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags) {
  if (array == nullptr || format == nullptr || extent.width == 0 || element_bytes(*format) == 0)
    return cudaErrorInvalidValue;
  if ((flags & cudaArrayCubemap) != 0 && (extent.width != extent.height || extent.depth % 6 != 0))
    return cudaErrorInvalidValue;
  cudaArray made{nullptr, *format, extent, flags};
  void* data = nullptr;
  const std::size_t rows = rows_of(extent) * slices_of(extent);
  if (const cudaError_t error = cudaMalloc(&data, row_bytes(made) * rows); error != cudaSuccess) return error;
  made.data = static_cast<unsigned char*>(data);
  *array = new cudaArray(made);
  return cudaSuccess;
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return cudaSuccess;
  const cudaError_t error = cudaFree(array->data);
  delete array;
  return error;
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  if (array == nullptr) return cudaErrorInvalidResourceHandle;
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  if (array == nullptr) return cudaErrorInvalidResourceHandle;
  *format = array->format;
  return cudaSuccess;
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  for (std::size_t z = 0; z < extent.depth; ++z)
    if (const cudaError_t error =
            cudaMemset2D(static_cast<unsigned char*>(pointer.ptr) + z * pointer.ysize * pointer.pitch,
                         pointer.pitch, value, extent.width, extent.height);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
  if (copy == nullptr) return cudaErrorInvalidValue;
  const cudaArray* const array = copy->srcArray != nullptr ? copy->srcArray : copy->dstArray;
  const std::size_t unit = array == nullptr ? 1 : element_bytes(array->format);
  struct Side {
    unsigned char* begin;
    std::size_t pitch, slice;
  };
  const auto side = [&](const cudaArray* at, const cudaPos& from, const cudaPitchedPtr& pointer) -> Side {
    if (at != nullptr)
      return {place_in(*at, from.x * unit, from.y, from.z), row_bytes(*at),
              row_bytes(*at) * rows_of(at->extent)};
    const std::size_t slice = pointer.pitch * pointer.ysize;
    return {
        static_cast<unsigned char*>(pointer.ptr) + from.z * slice + from.y * pointer.pitch + from.x * unit,
        pointer.pitch, slice};
  };
  const auto fits = [&](const cudaArray* at, const cudaPos& from) {
    return at == nullptr ||
           (has_room(at, from.x * unit, from.y, copy->extent.width * unit, copy->extent.height) &&
            from.z + copy->extent.depth <= slices_of(at->extent));
  };
  if (!fits(copy->srcArray, copy->srcPos) || !fits(copy->dstArray, copy->dstPos))
    return cudaErrorInvalidValue;
  const Side from = side(copy->srcArray, copy->srcPos, copy->srcPtr);
  const Side to = side(copy->dstArray, copy->dstPos, copy->dstPtr);
  for (std::size_t z = 0; z < copy->extent.depth; ++z)
    if (const cudaError_t error =
            cudaMemcpy2DAsync(to.begin + z * to.slice, to.pitch, from.begin + z * from.slice, from.pitch,
                              copy->extent.width * unit, copy->extent.height, copy->kind, stream);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  const cudaError_t error = cudaMemcpy3DAsync(copy, nullptr);
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind) {
  if (to == nullptr || y * row_bytes(*to) + x_bytes + bytes > row_bytes(*to) * rows_of(to->extent))
    return cudaErrorInvalidValue;
  return cudaMemcpy(place_in(*to, x_bytes, y), from, bytes, kind);
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x_bytes, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind) {
  if (from == nullptr || y * row_bytes(*from) + x_bytes + bytes > row_bytes(*from) * rows_of(from->extent))
    return cudaErrorInvalidValue;
  return cudaMemcpy(to, place_in(*from, x_bytes, y), bytes, kind);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                                     std::size_t from_pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  if (!has_room(to, x_bytes, y, width, height)) return cudaErrorInvalidValue;
  return cudaMemcpy2DAsync(place_in(*to, x_bytes, y), row_bytes(*to), from, from_pitch, width, height, kind,
                           stream);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                                std::size_t from_pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  if (!has_room(to, x_bytes, y, width, height)) return cudaErrorInvalidValue;
  return cudaMemcpy2D(place_in(*to, x_bytes, y), row_bytes(*to), from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t to_pitch, cudaArray_const_t from, std::size_t x_bytes,
                                  std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (!has_room(from, x_bytes, y, width, height)) return cudaErrorInvalidValue;
  return cudaMemcpy2D(to, to_pitch, place_in(*from, x_bytes, y), row_bytes(*from), width, height, kind);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  if (object == nullptr || resource == nullptr || texture == nullptr) return cudaErrorInvalidValue;
  if (view != nullptr || resource->resType == cudaResourceTypeMipmappedArray) return cudaErrorNotSupported;
  Texture made;
  made.how = *texture;
  if (!describe(made, *resource)) return cudaErrorInvalidValue;
  const bool gives_float = made.format.f == cudaChannelFormatKindFloat ||
                           (texture->readMode == cudaReadModeNormalizedFloat && made.format.x != 32);
  if (texture->filterMode == cudaFilterModeLinear && !gives_float) return cudaErrorInvalidValue;
  *object = reinterpret_cast<cudaTextureObject_t>(new Texture(made));
  return cudaSuccess;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  const cudaError_t error = cudaDeviceSynchronize();  // a kernel that is queued may use it
  delete reinterpret_cast<Texture*>(object);
  return error;
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  Elements made;
  if (object == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray ||
      !describe(made, *resource))
    return cudaErrorInvalidValue;
  *object = reinterpret_cast<cudaSurfaceObject_t>(new Elements(made));
  return cudaSuccess;
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  const cudaError_t error = cudaDeviceSynchronize();
  delete reinterpret_cast<Elements*>(object);
  return error;
}

SimtTexel simt_texture_sample(cudaTextureObject_t object, int dimensions, float x, float y, float z,
                              int layer) {
  return sample(texture_of(object), dimensions, {x, y, z}, layer);
}

SimtTexel simt_texture_fetch(cudaTextureObject_t object, int x) {
  const Texture& texture = texture_of(object);
  if (x < 0 || x >= texture.extent[0]) return {};
  return element(texture, {x, 0, 0});
}

// The faces in the order +x, -x, +y, -y, +z, -z, each with axes of its own (CUDA's guide, "Cubemap
// Textures").
SimtTexel simt_texture_cubemap(cudaTextureObject_t object, float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  int face = z < 0 ? 5 : 4;
  float depth = az, s = z < 0 ? -x : x, t = -y;
  if (ax >= ay && ax >= az)
    face = x < 0 ? 1 : 0, depth = ax, s = x < 0 ? z : -z, t = -y;
  else if (ay >= az)
    face = y < 0 ? 3 : 2, depth = ay, s = x, t = y < 0 ? -z : z;
  Texture texture = texture_of(object);
  texture.how.normalizedCoords = 1;
  return sample(texture, 2, {(s / depth + 1) / 2, (t / depth + 1) / 2, 0}, face);
}

void simt_surface_read(cudaSurfaceObject_t object, void* value, std::size_t bytes, int x_bytes, int y, int z,
                       cudaSurfaceBoundaryMode mode) {
  const unsigned char* const at = place_on(object, bytes, x_bytes, y, z, mode);
  if (at != nullptr)
    std::memcpy(value, at, bytes);
  else
    std::memset(value, 0, bytes);
}
void simt_surface_write(cudaSurfaceObject_t object, const void* value, std::size_t bytes, int x_bytes, int y,
                        int z, cudaSurfaceBoundaryMode mode) {
  if (unsigned char* const at = place_on(object, bytes, x_bytes, y, z, mode); at != nullptr)
    std::memcpy(at, value, bytes);
}

}  // extern "C"
