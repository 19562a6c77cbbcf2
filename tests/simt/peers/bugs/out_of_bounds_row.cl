// A column index past the end of its row lands in the next row of the same array.

kernel void next_column_kernel(global const float* x, global float* y, int n) {
  local float tile[8][8];
  const int row = get_local_id(0) / 8, col = get_local_id(0) % 8;
  tile[row][col] = x[8 * row + col];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (row < 7) y[8 * row + col] = tile[row][col + 1];  // bug: column 8 is column 0 of the next row
}
