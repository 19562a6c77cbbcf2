#pragma once
// cuRAND for host code: generators that fill arrays, as far as the simulator has them.

#include "simt_library.h"

#include "curand_api.h"

#define CURAND_H_
