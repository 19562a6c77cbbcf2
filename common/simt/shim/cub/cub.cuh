#pragma once
// CUB, as far as the simulator has it: primitives of warps and blocks.

#include "block/block_exchange.cuh"
#include "block/block_load.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"
