#include "grading/base/sha256.hpp"

#include <bit>
#include <cstddef>

namespace course::grading {
namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;

/// The text, a bit that is set, zeros, and the number of its bits: whole blocks (section 5.1.1).
std::string padded(std::string_view text) {
  std::string bytes(text);
  bytes.push_back('\x80');
  while (bytes.size() % kBlockBytes != kBlockBytes - 8) bytes.push_back('\0');
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(bits >> shift & 0xff));
  return bytes;
}

/// The 16 words of a block, big-endian, and 48 more that are mixed from them.
std::array<std::uint32_t, 64> schedule(std::string_view block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t i = 0; i < kBlockBytes; ++i) {
    words[i / 4] = words[i / 4] << 8 | static_cast<std::uint8_t>(block[i]);
  }
  for (std::size_t t = 16; t < words.size(); ++t) {
    const std::uint32_t a = words[t - 15], b = words[t - 2];
    const std::uint32_t sigma0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3;
    const std::uint32_t sigma1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10;
    words[t] = sigma1 + words[t - 7] + sigma0 + words[t - 16];
  }
  return words;
}

void fold(State& state, std::string_view block) {
  const std::array<std::uint32_t, 64> words = schedule(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < words.size(); ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    const std::uint32_t first = h + sum1 + choice + kRound[t] + words[t];
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + sum0 + majority;
  }
  const State mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

}  // namespace

std::array<std::uint8_t, 32> sha256(std::string_view text) {
  State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const std::string bytes = padded(text);
  for (std::size_t begin = 0; begin < bytes.size(); begin += kBlockBytes) {
    fold(state, std::string_view(bytes).substr(begin, kBlockBytes));
  }
  std::array<std::uint8_t, 32> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
  }
  return digest;
}

std::string sha256_hex(std::string_view text) {
  std::string digits;
  for (const std::uint8_t byte : sha256(text))
    for (const int shift : {4, 0}) digits.push_back("0123456789abcdef"[byte >> shift & 15]);
  return digits;
}

std::string sha256_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::array<std::uint8_t, 32> digest = sha256(text);
  std::string base64;
  for (std::size_t i = 0; i < 33; i += 3) {
    const std::uint32_t third = i + 2 < digest.size() ? digest[i + 2] : 0u;
    const std::uint32_t bits = std::uint32_t{digest[i]} << 16 | std::uint32_t{digest[i + 1]} << 8 | third;
    for (int shift = 18; shift >= 0; shift -= 6) base64.push_back(kDigits[bits >> shift & 63]);
  }
  base64.back() = '=';  // 32 bytes lack one of the last group of three
  return base64;
}

}  // namespace course::grading
