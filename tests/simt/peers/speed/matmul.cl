// C = A B in tiles of 16 by 16 in local memory.

#define SIZE 256
#define TILE 16

kernel void matmul_kernel(global const float* A, global const float* B, global float* C) {
  local float A_tile[TILE][TILE], B_tile[TILE][TILE];
  const int x = get_local_id(0), y = get_local_id(1);
  const int row = get_group_id(1) * TILE + y, col = get_group_id(0) * TILE + x;
  float sum = 0.0f;
  for (int first = 0; first < SIZE; first += TILE) {
    A_tile[y][x] = A[row * SIZE + first + x];
    B_tile[y][x] = B[(first + y) * SIZE + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += A_tile[y][k] * B_tile[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  C[row * SIZE + col] = sum;
}
