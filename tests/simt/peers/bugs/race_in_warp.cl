// Neighbours in one warp exchange values through shared memory without __syncwarp().

kernel void swap_neighbours_kernel(global const float* x, global float* y, int n) {
  local float tile[32];
  const int thread = get_local_id(0);
  tile[thread] = x[thread];      // bug: nothing orders this write
  y[thread] = tile[thread ^ 1];  // bug: and the neighbour's read
}
