#pragma once

/// Before a function of common/tensor that kernels may call, too.
#ifdef __CUDACC__
#define COURSE_HOST_DEVICE __host__ __device__
#else
#define COURSE_HOST_DEVICE
#endif
