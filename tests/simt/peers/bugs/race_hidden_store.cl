// A racing store that an optimiser removes, because the next line overwrites it.

kernel void publish_kernel(global const float* x, global float* y, int n) {
  local float chosen;
  const int thread = get_local_id(0);
  chosen = x[thread];  // bug: every thread writes its own value
  chosen = x[0];       // bug: and this one, which another's line above may overwrite
  barrier(CLK_LOCAL_MEM_FENCE);
  y[thread] = chosen;
}
