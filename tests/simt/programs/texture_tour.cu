// Textures of every form against a loop on the host: an array rotated with filtering, rows with a pitch that
// wrap and mirror, bytes as floats, a fetch from linear memory, layers, a cube's faces, a volume, and a
// surface that a kernel writes.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static int failures = 0;

static void expect_near(const char* what, const std::vector<float>& got, const std::vector<float>& wanted,
                        float bound) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::fabs(got[i] - wanted[i]) <= bound) continue;
    printf("%s: element %zu is %g, not %g\n", what, i, got[i], wanted[i]);
    ++failures;
    return;
  }
}
static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  printf("line %d: %s\n", line, cudaGetErrorString(error));
  ++failures;
}
#define CHECK(call) check(call, __LINE__)

template <class T>
static std::vector<float> from_device(const T* device, size_t count) {
  std::vector<float> host(count);
  CHECK(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
  return host;
}

static cudaTextureObject_t make_texture(const cudaResourceDesc& resource, cudaTextureAddressMode address,
                                        cudaTextureFilterMode filter, cudaTextureReadMode read,
                                        bool normalized) {
  cudaTextureDesc how;
  memset(&how, 0, sizeof how);
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = address;
  how.filterMode = filter;
  how.readMode = read;
  how.normalizedCoords = normalized;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}
static cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

constexpr int kWidth = 32, kHeight = 16;

__global__ void sample_kernel(cudaTextureObject_t texture, float* out, float scale_x, float scale_y,
                              float shift) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < kWidth && y < kHeight)
    out[y * kWidth + x] = tex2D<float>(texture, (x + shift) * scale_x, (y + shift) * scale_y);
}
__global__ void channels_kernel(cudaTextureObject_t texture, float* out) {
  const uchar4 color = tex2D<uchar4>(texture, threadIdx.x + 0.5f, 0.5f);
  out[threadIdx.x] = color.x + 2.0f * color.y + 4.0f * color.z + 8.0f * color.w;
}
__global__ void fetch_kernel(cudaTextureObject_t texture, int* out, int count) {
  const int i = threadIdx.x - 1;
  if (i <= count) out[threadIdx.x] = tex1Dfetch<int>(texture, i);
}
__global__ void layers_kernel(cudaTextureObject_t texture, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      tex2DLayered<float>(texture, threadIdx.x + 0.5f, 0.5f, blockIdx.x);
}
__global__ void cube_kernel(cudaTextureObject_t texture, float* out) {
  const float direction[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  const float* d = direction[threadIdx.x];
  out[threadIdx.x] = texCubemap<float>(texture, d[0], d[1], d[2]);
}
__global__ void volume_kernel(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex3D<float>(texture, 1.0f + threadIdx.x, 1.0f, 1.0f);
}
__global__ void transpose_to_surface(const float* in, cudaSurfaceObject_t surface) {
  const int x = threadIdx.x, y = threadIdx.y;
  surf2Dwrite(in[x * kHeight + y], surface, x * static_cast<int>(sizeof(float)), y);
}
__global__ void double_surface(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x * static_cast<int>(sizeof(float)), y = threadIdx.y;
  surf2Dwrite(2 * surf2Dread<float>(surface, x, y), surface, x, y);
}

int main() {
  const dim3 block(8, 8), grid(kWidth / 8, kHeight / 8);
  constexpr size_t kBytes = kWidth * kHeight * sizeof(float);
  std::vector<float> image(kWidth * kHeight), wanted(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) image[i] = static_cast<float>(i * 37 % 101);
  float* out;
  CHECK(cudaMalloc(&out, kBytes));

  {  // halfway between four elements, beyond the edge clamped
    cudaArray* array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, kWidth, kHeight));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), kWidth * 4, kWidth * 4, kHeight,
                              cudaMemcpyHostToDevice));
    cudaTextureObject_t texture = make_texture(resource_of(array), cudaAddressModeClamp, cudaFilterModeLinear,
                                               cudaReadModeElementType, false);
    sample_kernel<<<grid, block>>>(texture, out, 1, 1, 1.0f);
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const int right = x + 1 < kWidth ? x + 1 : x, below = y + 1 < kHeight ? y + 1 : y;
        wanted[y * kWidth + x] = (image[y * kWidth + x] + image[y * kWidth + right] +
                                  image[below * kWidth + x] + image[below * kWidth + right]) /
                                 4;
      }
    expect_near("linear", from_device(out, wanted.size()), wanted, 1e-4f);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
  }
  for (const bool mirrored : {false, true}) {  // a pitch, and coordinates from 0 to 1 that go past it
    float* rows;
    size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, kWidth * sizeof(float), kHeight));
    CHECK(cudaMemcpy2D(rows, pitch, image.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = rows;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = kWidth;
    resource.res.pitch2D.height = kHeight;
    resource.res.pitch2D.pitchInBytes = pitch;
    cudaTextureObject_t texture =
        make_texture(resource, mirrored ? cudaAddressModeMirror : cudaAddressModeWrap, cudaFilterModePoint,
                     cudaReadModeElementType, true);
    sample_kernel<<<grid, block>>>(texture, out, 1.0f / kWidth, 1.0f / kHeight, 5.5f);
    const auto place = [&](int at, int count) {
      return at < count ? at : mirrored ? 2 * count - 1 - at : at - count;
    };
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        wanted[y * kWidth + x] = image[place(y + 5, kHeight) * kWidth + place(x + 5, kWidth)];
    expect_near(mirrored ? "mirror" : "wrap", from_device(out, wanted.size()), wanted, 0);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFree(rows));
  }
  {  // bytes in fours as they are; one channel of bytes as a float up to 1
    std::vector<unsigned char> bytes(kWidth * kHeight * 4);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 5);
    cudaArray *colors, *gray;
    const cudaChannelFormatDesc four = cudaCreateChannelDesc<uchar4>();
    const cudaChannelFormatDesc one = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    CHECK(cudaMallocArray(&colors, &four, kWidth, 1));
    CHECK(cudaMallocArray(&gray, &one, kWidth, kHeight));
    CHECK(cudaMemcpyToArray(colors, 0, 0, bytes.data(), kWidth * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToArray(gray, 0, 0, bytes.data(), kWidth * kHeight, cudaMemcpyHostToDevice));
    cudaTextureObject_t raw = make_texture(resource_of(colors), cudaAddressModeClamp, cudaFilterModePoint,
                                           cudaReadModeElementType, false);
    cudaTextureObject_t unit = make_texture(resource_of(gray), cudaAddressModeBorder, cudaFilterModePoint,
                                            cudaReadModeNormalizedFloat, false);
    channels_kernel<<<1, kWidth>>>(raw, out);
    std::vector<float> sums(kWidth);
    for (int i = 0; i < kWidth; ++i)
      sums[i] = bytes[4 * i] + 2.0f * bytes[4 * i + 1] + 4.0f * bytes[4 * i + 2] + 8.0f * bytes[4 * i + 3];
    expect_near("channels", from_device(out, sums.size()), sums, 0);
    sample_kernel<<<grid, block>>>(unit, out, 1, 1, 1.5f);  // the last row and column are the border
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        wanted[y * kWidth + x] =
            x + 1 < kWidth && y + 1 < kHeight ? bytes[(y + 1) * kWidth + x + 1] / 255.0f : 0;
    expect_near("normalized", from_device(out, wanted.size()), wanted, 1e-6f);
    CHECK(cudaDestroyTextureObject(raw));
    CHECK(cudaDestroyTextureObject(unit));
    CHECK(cudaFreeArray(colors));
    CHECK(cudaFreeArray(gray));
  }
  {  // outside of linear memory there is 0
    constexpr int kCount = 10;
    int numbers[kCount], got[kCount + 2], *device, *fetched;
    for (int i = 0; i < kCount; ++i) numbers[i] = 100 - 30 * i;
    CHECK(cudaMalloc(&device, sizeof numbers));
    CHECK(cudaMalloc(&fetched, sizeof got));
    CHECK(cudaMemcpy(device, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = sizeof numbers;
    cudaTextureObject_t texture =
        make_texture(resource, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
    fetch_kernel<<<1, kCount + 2>>>(texture, fetched, kCount);
    CHECK(cudaMemcpy(got, fetched, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < kCount + 2; ++i)
      if (got[i] != (i == 0 || i > kCount ? 0 : numbers[i - 1]))
        ++failures, printf("fetch %d: %d\n", i, got[i]);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFree(device));
    CHECK(cudaFree(fetched));
  }
  for (const bool cube : {false, true}) {  // layers, and the six faces of a cube
    constexpr int kLayers = 6, kSide = 4;
    cudaArray* array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(kSide, kSide, kLayers),
                            cube ? cudaArrayCubemap : cudaArrayLayered));
    cudaMemcpy3DParms copy = {};
    copy.srcPos = copy.dstPos = make_cudaPos(0, 0, 0);
    copy.srcPtr = make_cudaPitchedPtr(image.data(), kSide * sizeof(float), kSide, kSide);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(kSide, kSide, kLayers);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaTextureObject_t texture =
        make_texture(resource_of(array), cudaAddressModeClamp,
                     cube ? cudaFilterModeLinear : cudaFilterModePoint, cudaReadModeElementType, cube);
    std::vector<float> layers(cube ? kLayers : kLayers * kSide);
    if (cube) {
      cube_kernel<<<1, kLayers>>>(texture, out);
      for (int face = 0; face < kLayers; ++face) {
        const float* middle = &image[face * kSide * kSide + kSide + 1];
        layers[face] = (middle[0] + middle[1] + middle[kSide] + middle[kSide + 1]) / 4;
      }
    } else {
      layers_kernel<<<kLayers, kSide>>>(texture, out);
      for (int i = 0; i < kLayers * kSide; ++i) layers[i] = image[i / kSide * kSide * kSide + i % kSide];
    }
    expect_near(cube ? "cube" : "layers", from_device(out, layers.size()), layers, 1e-4f);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
  }
  {  // a volume: between all eight neighbours
    constexpr int kSide = 4;
    cudaArray* array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(kSide, kSide, kSide)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(image.data(), kSide * sizeof(float), kSide, kSide);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(kSide, kSide, kSide);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaTextureObject_t texture = make_texture(resource_of(array), cudaAddressModeClamp, cudaFilterModeLinear,
                                               cudaReadModeElementType, false);
    volume_kernel<<<1, kSide - 1>>>(texture, out);
    std::vector<float> means(kSide - 1);
    for (int x = 0; x < kSide - 1; ++x)
      for (int corner = 0; corner < 8; ++corner)
        means[x] += image[(corner >> 2) * kSide * kSide + (corner >> 1 & 1) * kSide + x + (corner & 1)] / 8;
    expect_near("volume", from_device(out, means.size()), means, 1e-4f);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
  }
  {  // a kernel transposes into a surface, a second one doubles it, and it comes back
    float* in;
    cudaArray* array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc(&in, kBytes));
    CHECK(cudaMemcpy(in, image.data(), kBytes, cudaMemcpyHostToDevice));
    CHECK(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
    const cudaResourceDesc resource = resource_of(array);
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    transpose_to_surface<<<1, dim3(kWidth, kHeight)>>>(in, surface);
    double_surface<<<1, dim3(kWidth, kHeight)>>>(surface);
    std::vector<float> got(kWidth * kHeight);
    CHECK(cudaMemcpy2DFromArray(got.data(), kWidth * 4, array, 0, 0, kWidth * 4, kHeight,
                                cudaMemcpyDeviceToHost));
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) wanted[y * kWidth + x] = 2 * image[x * kHeight + y];
    expect_near("surface", got, wanted, 0);
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(in));
  }
  CHECK(cudaFree(out));
  printf(failures == 0 ? "texture_tour: PASSED\n" : "texture_tour: FAILED\n");
  return failures == 0 ? 0 : 1;
}
