// Every thread that sees a large value raises the same flag.

kernel void raise_flag_kernel(global const float* x, global float* y, int n) {
  local int found;
  const int thread = get_local_id(0);
  if (thread == 0) found = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x[thread] > 3) found = 1;  // bug: several threads write it, all the same value
  barrier(CLK_LOCAL_MEM_FENCE);
  y[thread] = found;
}
