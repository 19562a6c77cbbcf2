#include "simt/rewriter/refused_headers.hpp"

#include <array>

namespace simt::rewriter {
namespace {

struct Feature {
  std::string_view header;  // or how it begins
  std::string_view name;
};

constexpr std::array kFeatures = {Feature{"thrust/", "Thrust"},
                                  Feature{"cub/", "CUB"},
                                  Feature{"cutlass/", "CUTLASS"},
                                  Feature{"cute/", "CuTe"},
                                  Feature{"cublas", "cuBLAS"},
                                  Feature{"curand", "cuRAND"},
                                  Feature{"cufft", "cuFFT"},
                                  Feature{"cusparse", "cuSPARSE"},
                                  Feature{"cusolver", "cuSOLVER"},
                                  Feature{"cudnn", "cuDNN"},
                                  Feature{"nccl", "NCCL"},
                                  Feature{"nvrtc", "NVRTC, which compiles kernels at run time"},
                                  Feature{"nvjpeg", "nvJPEG"},
                                  Feature{"npp", "NPP"},
                                  Feature{"nvml", "NVML"},
                                  Feature{"nvtx3/", "NVTX"},
                                  Feature{"nvToolsExt", "NVTX"},
                                  Feature{"cudla", "cuDLA"},
                                  Feature{"cudss", "cuDSS"},
                                  Feature{"cutensor", "cuTENSOR"},
                                  Feature{"cuda_gl_interop", "OpenGL interoperability"},
                                  Feature{"cuda_egl_interop", "EGL interoperability"},
                                  Feature{"cuda_vdpau_interop", "VDPAU interoperability"},
                                  Feature{"cuda_d3d", "Direct3D interoperability"},
                                  Feature{"cudaGL", "OpenGL interoperability"},
                                  Feature{"cudaEGL", "EGL interoperability"},
                                  Feature{"GL/", "OpenGL"},
                                  Feature{"vulkan/", "Vulkan"},
                                  Feature{"texture_", "texture memory"},
                                  Feature{"surface_", "surface memory"},
                                  Feature{"cuda_texture_types", "texture memory"},
                                  Feature{"cuda_surface_types", "surface memory"},
                                  Feature{"cuda/semaphore", "cuda::counting_semaphore"},
                                  Feature{"cuda/latch", "cuda::latch"},
                                  Feature{"cuda/ptx", "cuda::ptx"},
                                  Feature{"mpi.h", "MPI"}};

}  // namespace

std::string refusal_of_header(std::string_view header) {
  for (const Feature& feature : kFeatures)
    if (header.starts_with(feature.header))
      return "This program uses " + std::string(feature.name) + " (" + std::string(header) +
             "), which the simulator does not have.";
  return {};
}

}  // namespace simt::rewriter
