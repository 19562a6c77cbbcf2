// Philox4x32-10 on the device and on the host: the known answers that its authors publish with Random123.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "device/philox.hpp"

struct KnownAnswer {
  std::uint32_t counter[4];
  std::uint64_t key;
  std::uint32_t words[4];
};

constexpr int kAnswers = 3;
const KnownAnswer kKnownAnswers[kAnswers] = {
    {{0, 0, 0, 0}, 0, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
    {{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu},
     0xffffffffffffffffu,
     {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
    {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
     0x299f31d0a4093822u,
     {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}},
};

/// Thread i asks for answer i. Shapes: answers is (kAnswers), words is (kAnswers, 4).
__global__ void philox_kernel(const KnownAnswer* answers, std::uint32_t* words) {
  std::uint32_t random[4];
  course::device::philox(answers[threadIdx.x].counter, answers[threadIdx.x].key, random);
  for (int n = 0; n < 4; ++n) words[threadIdx.x * 4 + n] = random[n];
}

void require_words(const std::uint32_t* got, const KnownAnswer& answer, const char* where) {
  for (int n = 0; n < 4; ++n) {
    if (got[n] == answer.words[n]) continue;
    std::printf("%s, counter %08x...: word %d is %08x, expected %08x\n", where, answer.counter[0], n, got[n],
                answer.words[n]);
    std::exit(EXIT_FAILURE);
  }
}

int main() {
  KnownAnswer* answers = nullptr;
  std::uint32_t* words = nullptr;
  if (cudaMalloc(&answers, sizeof kKnownAnswers) != cudaSuccess ||
      cudaMallocManaged(&words, kAnswers * 4 * sizeof(std::uint32_t)) != cudaSuccess) {
    std::printf("no device memory\n");
    return EXIT_FAILURE;
  }
  cudaMemcpy(answers, kKnownAnswers, sizeof kKnownAnswers, cudaMemcpyHostToDevice);
  philox_kernel<<<1, kAnswers>>>(answers, words);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::printf("the launch failed\n");
    return EXIT_FAILURE;
  }
  for (int i = 0; i < kAnswers; ++i) {
    require_words(words + 4 * i, kKnownAnswers[i], "device");
    std::uint32_t random[4];
    course::device::philox(kKnownAnswers[i].counter, kKnownAnswers[i].key, random);
    require_words(random, kKnownAnswers[i], "host");
  }
  cudaFree(answers);
  cudaFree(words);
  std::printf("PASSED\n");
}
