// Declares threadIdx and its kin; the simulator's cuda_runtime.h does so already.
#pragma once
#include "cuda_runtime.h"
