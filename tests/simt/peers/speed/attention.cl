// O = softmax(Q K^T / sqrt(d)) V, one work-item a query row, online softmax.

#define ROWS 128
#define DIM 32

kernel void attention_kernel(global const float* Q, global const float* K, global const float* V,
                             global float* O) {
  const int row = get_global_id(0);
  float q[DIM], o[DIM];
  for (int d = 0; d < DIM; ++d) {
    q[d] = Q[row * DIM + d];
    o[d] = 0.0f;
  }
  float largest = -INFINITY, sum = 0.0f;
  for (int key = 0; key < ROWS; ++key) {
    float score = 0.0f;
    for (int d = 0; d < DIM; ++d) score += q[d] * K[key * DIM + d];
    score *= 0.17677669f;  // 1 / sqrt(32)
    const float new_largest = fmax(largest, score);
    const float shrink = exp(largest - new_largest), weight = exp(score - new_largest);
    sum = sum * shrink + weight;
    for (int d = 0; d < DIM; ++d) o[d] = o[d] * shrink + weight * V[key * DIM + d];
    largest = new_largest;
  }
  for (int d = 0; d < DIM; ++d) O[row * DIM + d] = o[d] / sum;
}
