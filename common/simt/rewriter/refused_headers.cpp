#include "simt/rewriter/refused_headers.hpp"

#include <array>

namespace simt::rewriter {
namespace {

constexpr std::string_view kByKernel = "Compute the same in a kernel of your own, or on the host.";
constexpr std::string_view kWithout = "Build the program without it.";

struct Feature {
  std::string_view header;  // or how it begins
  std::string_view name;
  std::string_view instead = kByKernel;
};

constexpr std::array kFeatures = {
    Feature{"thrust/", "a part of Thrust"},
    Feature{"cub/device/", "CUB's functions for the whole device"},
    Feature{"cub/iterator/", "CUB's iterators"},
    Feature{"cub/", "a part of CUB"},
    Feature{"cutlass/", "CUTLASS"},
    Feature{"cute/", "CuTe"},
    Feature{"cublasLt", "cuBLASLt", "Use cublasGemmEx() of cuBLAS."},
    Feature{"cublas.h", "the old interface of cuBLAS", "Use that of cublas_v2.h."},
    Feature{"curand_m", "cuRAND's other generators",
            "Include curand.h or curand_kernel.h: XORWOW and Philox."},
    Feature{"cufft", "cuFFT"},
    Feature{"cusparse", "cuSPARSE"},
    Feature{"cusolver", "cuSOLVER"},
    Feature{"cudnn", "cuDNN"},
    Feature{"nccl", "NCCL", kWithout},
    Feature{"nvrtc", "NVRTC, which compiles kernels at run time", "Write the kernels into the file."},
    Feature{"nvjpeg", "nvJPEG", kWithout},
    Feature{"npp", "NPP"},
    Feature{"nvml", "NVML", kWithout},
    Feature{"nvtx3/", "NVTX", kWithout},
    Feature{"nvToolsExt", "NVTX", kWithout},
    Feature{"cudla", "cuDLA", kWithout},
    Feature{"cudss", "cuDSS"},
    Feature{"cutensor", "cuTENSOR"},
    Feature{"cuda_gl_interop", "OpenGL interoperability", kWithout},
    Feature{"cuda_egl_interop", "EGL interoperability", kWithout},
    Feature{"cuda_vdpau_interop", "VDPAU interoperability", kWithout},
    Feature{"cuda_d3d", "Direct3D interoperability", kWithout},
    Feature{"cudaGL", "OpenGL interoperability", kWithout},
    Feature{"cudaEGL", "EGL interoperability", kWithout},
    Feature{"GL/", "OpenGL", kWithout},
    Feature{"vulkan/", "Vulkan", kWithout},
    Feature{"texture_", "texture memory", "Let the kernel read the array through a pointer."},
    Feature{"surface_", "surface memory", "Let the kernel write the array through a pointer."},
    Feature{"cuda_texture_types", "texture memory", "Let the kernel read the array through a pointer."},
    Feature{"cuda_surface_types", "surface memory", "Let the kernel write the array through a pointer."},
    Feature{"cuda/semaphore", "cuda::counting_semaphore", "Use cuda::barrier."},
    Feature{"cuda/latch", "cuda::latch", "Use cuda::barrier."},
    Feature{"cuda/ptx", "cuda::ptx", "Write inline PTX, as far as docs/ptx.md has it."},
    Feature{"mpi.h", "MPI", kWithout}};

}  // namespace

std::string refusal_of_header(std::string_view header) {
  for (const Feature& feature : kFeatures)
    if (header.starts_with(feature.header))
      return "This program uses " + std::string(feature.name) + " (" + std::string(header) +
             "), which the simulator does not have. " + std::string(feature.instead);
  return {};
}

}  // namespace simt::rewriter
