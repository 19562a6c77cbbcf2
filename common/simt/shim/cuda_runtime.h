#pragma once
// Stands in for CUDA's header of the same name when a .cu file is compiled for the simulator.

// What nvcc knows without an include.
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

#include "simt_qualifiers.h"
#include "simt_vector_types.h"

#include "cuda_runtime_api.h"
#include "simt_failed_checks.h"
#include "simt_kernel.h"
#include "simt_launch_api.h"
#include "simt_math.h"
#include "simt_names.h"
#include "simt_ptx.h"
#ifdef SIMT_PROGRAM
#include "simt_graph_kernels.h"
#include "simt_texture.h"
#endif

#include "simt_atomics.h"

#define __CUDA_RUNTIME_H__  // the guard of CUDA's own header, which programs ask for
