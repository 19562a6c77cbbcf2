// The same through a pointer to the row, whose length the pointer has forgotten.

kernel void next_column_kernel(global const float* x, global float* y, int n) {
  local float tile[8][8];
  const int row = get_local_id(0) / 8, col = get_local_id(0) % 8;
  tile[row][col] = x[8 * row + col];
  barrier(CLK_LOCAL_MEM_FENCE);
  local const float* tile_row = tile[row];
  if (row < 7) y[8 * row + col] = tile_row[col + 1];  // bug: column 8 is column 0 of the next row
}
