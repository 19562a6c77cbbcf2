// The same in a flat array that only the kernel's author takes for 8 rows of 8.

kernel void next_column_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int row = get_local_id(0) / 8, col = get_local_id(0) % 8;
  tile[8 * row + col] = x[8 * row + col];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (row < 7) y[8 * row + col] = tile[8 * row + col + 1];  // bug: column 8 is column 0 of the next row
}
