#pragma once
/// @file
/// What the benchmarks of the attention lessons share: arrays of one problem, and a line of JSON for each
/// measurement.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "bench/benchmark.hpp"
#include "device/attention_tile.hpp"
#include "tensor/view.hpp"

namespace course::bench {

struct AttentionSizes {
  std::int64_t B, H, H_kv, Nq, Nk, D;
};

/// 4 batches of 16 heads, as in lesson 07's benchmark.
inline AttentionSizes square(std::int64_t N, std::int64_t D) { return {4, 16, 16, N, N, D}; }

/// Elements of Q, and of K, for all batches and heads.
inline double elements_of_queries(const AttentionSizes& n) {
  return static_cast<double>(n.B * n.H * n.Nq * n.D);
}
inline double elements_of_keys(const AttentionSizes& n) {
  return static_cast<double>(n.B * n.H_kv * n.Nk * n.D);
}
inline double rows_of_queries(const AttentionSizes& n) { return static_cast<double>(n.B * n.H * n.Nq); }

/// Q, K, V, O and lse in device memory, contiguous.
class AttentionArrays {
 public:
  explicit AttentionArrays(const AttentionSizes& n)
      : n_(n),
        Q_(n.B * n.H * n.Nq * n.D, 1),
        K_(n.B * n.H_kv * n.Nk * n.D, 2),
        V_(n.B * n.H_kv * n.Nk * n.D, 3),
        O_(n.B * n.H * n.Nq * n.D, 4),
        lse_(n.B * n.H * n.Nq, 5),
        l_(n.B * n.H * n.Nq, 6) {}

  static double bytes(const AttentionSizes& n) {
    return 4 * (2 * elements_of_queries(n) + 2 * elements_of_keys(n) + 2 * rows_of_queries(n));
  }

  View<const float, 4> Q() { return view_of<const float>(Q_.data(), n_.H, n_.Nq); }
  View<const float, 4> K() { return view_of<const float>(K_.data(), n_.H_kv, n_.Nk); }
  View<const float, 4> V() { return view_of<const float>(V_.data(), n_.H_kv, n_.Nk); }
  View<float, 4> O() { return view_of(O_.data(), n_.H, n_.Nq); }
  View<float, 3> lse() { return rows_of(lse_.data()); }
  View<float, 3> l() { return rows_of(l_.data()); }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(n_.D)); }

 protected:
  template <class T>
  View<T, 4> view_of(T* data, std::int64_t H, std::int64_t N) const {
    return {data, {n_.B, H, N, n_.D}, {H * N * n_.D, N * n_.D, n_.D, 1}};
  }
  View<float, 3> rows_of(float* data) const { return {data, {n_.B, n_.H, n_.Nq}, {n_.H * n_.Nq, n_.Nq, 1}}; }

  AttentionSizes n_;

 private:
  DeviceArray Q_, K_, V_, O_, lse_, l_;
};

/// What a backward pass has besides, contiguous: dO, delta, dQ, dK and dV.
class GradientArrays : public AttentionArrays {
 public:
  explicit GradientArrays(const AttentionSizes& n)
      : AttentionArrays(n),
        dO_(n.B * n.H * n.Nq * n.D, 7),
        delta_(n.B * n.H * n.Nq, 8),
        dQ_(n.B * n.H * n.Nq * n.D, 9),
        dK_(n.B * n.H_kv * n.Nk * n.D, 10),
        dV_(n.B * n.H_kv * n.Nk * n.D, 11) {}

  static double bytes(const AttentionSizes& n) {
    return AttentionArrays::bytes(n) +
           4 * (2 * elements_of_queries(n) + 2 * elements_of_keys(n) + rows_of_queries(n));
  }

  View<const float, 4> O_read() { return device::read_only(O()); }
  View<const float, 3> lse_read() { return device::read_only(lse()); }
  View<const float, 4> dO() { return view_of<const float>(dO_.data(), n_.H, n_.Nq); }
  View<float, 3> delta() { return rows_of(delta_.data()); }
  View<float, 4> dQ() { return view_of(dQ_.data(), n_.H, n_.Nq); }
  View<float, 4> dK() { return view_of(dK_.data(), n_.H_kv, n_.Nk); }
  View<float, 4> dV() { return view_of(dV_.data(), n_.H_kv, n_.Nk); }

 private:
  DeviceArray dO_, delta_, dQ_, dK_, dV_;
};

/// The list of measurements that is open: its name, and whether it has a line yet.
struct OpenList {
  std::string name;
  bool empty = true;
};
inline OpenList& open_list() {
  static OpenList instance;
  return instance;
}

/// Opens the list of measurements called `name`, which is also their series.
inline void begin_measurements(const char* name) {
  open_list() = {name};
  std::printf("  \"%s\": [", name);
}
inline void end_measurements() { std::printf("\n  ],\n"); }

/// Sizes as a person reads them: N for Nq and Nk if they are the same, and H_kv only if it is not H.
inline std::string label_of(const AttentionSizes& n, const Shape& settings) {
  std::string label = n.Nq == n.Nk ? "N=" + std::to_string(n.Nk)
                                   : "Nq=" + std::to_string(n.Nq) + " Nk=" + std::to_string(n.Nk);
  label += " D=" + std::to_string(n.D) + " H=" + std::to_string(n.H);
  if (n.H_kv != n.H) label += ":" + std::to_string(n.H_kv);
  return settings.label().empty() ? label : label + " " + settings.label();
}

/// Settings, then sizes, as in the list on standard output.
inline Shape shape_of(const AttentionSizes& n, Shape settings) {
  Shape shape;
  shape.append(settings).size("B", n.B).size("H", n.H).size("H_kv", n.H_kv);
  return shape.size("Nq", n.Nq).size("Nk", n.Nk).size("D", n.D).labelled(label_of(n, settings));
}

/// Whether Arrays of these sizes fit into the device's memory. If not, the shape is left out.
template <class Arrays>
bool fits_attention(const AttentionSizes& n, const Shape& settings = {}) {
  return fits(open_list().name, shape_of(n, settings), Arrays::bytes(n));
}

/// @brief Measures `attend` and prints its line. `pairs`: of a query and a key that it sees, for each head; a
/// pair takes 2 * D operations in each of the `products`. `result_bytes`: what the kernel writes, which is
/// all the memory that it needs beside its inputs. `bytes`: what the problem must read and write. `unit`:
/// what multiplies.
inline void measure_attention(const AttentionSizes& n, double pairs, double result_bytes, double bytes,
                              const Shape& settings, const std::function<void()>& attend, int products = 2,
                              Unit unit = Unit::float32) {
  const Shape shape = shape_of(n, settings);
  if (!wanted(open_list().name, shape)) return;
  const double operations = 2.0 * products * static_cast<double>(n.B * n.H * n.D) * pairs;
  const Timing timing = time_calls(attend, operations > 2e12 ? 7 : kRepetitions);
  std::printf("%s\n    {%s\"milliseconds\": %.4f, \"teraflops\": %.2f, \"result_bytes\": %.0f}",
              open_list().empty ? "" : ",", shape.json(true).c_str(), timing.milliseconds,
              operations / timing.milliseconds * 1e-9, result_bytes);
  open_list().empty = false;
  record(open_list().name, shape, timing, operations, bytes, unit);
}

/// Bytes of O and of so many numbers for each row.
inline double bytes_of_results(const AttentionSizes& n, int numbers_a_row = 1) {
  return 4.0 * static_cast<double>(n.B * n.H * n.Nq) * static_cast<double>(n.D + numbers_a_row);
}

/// Bytes of delta, dQ, dK and dV.
inline double bytes_of_gradients(const AttentionSizes& n) {
  return 4.0 * static_cast<double>(n.B * n.H * n.Nq * (n.D + 1) + 2 * n.B * n.H_kv * n.Nk * n.D);
}

/// @brief Measures a forward pass, which reads Q, K and V once and writes O and so many numbers for each row.
inline void measure_forward(const AttentionSizes& n, double pairs, const Shape& settings,
                            const std::function<void()>& attend, int numbers_a_row = 1) {
  const double result_bytes = bytes_of_results(n, numbers_a_row);
  const double input_bytes = 4 * (elements_of_queries(n) + 2 * elements_of_keys(n));
  measure_attention(n, pairs, result_bytes, input_bytes + result_bytes, settings, attend);
}

/// @brief Measures a backward pass: five products; Q, K, V, O and dO, dO once more for delta, dQ, dK and dV;
/// and four numbers for each row: lse and delta, written and read.
inline void measure_backward(const AttentionSizes& n, double pairs, const Shape& settings,
                             const std::function<void()>& attend) {
  const double bytes = 4 * (5 * elements_of_queries(n) + 4 * elements_of_keys(n) + 4 * rows_of_queries(n));
  measure_attention(n, pairs, bytes_of_gradients(n), bytes, settings, attend, 5);
}

/// Pairs of a query and a key in its window, for N of each.
inline double pairs_in_window(std::int64_t N, std::int64_t window) {
  const double W = static_cast<double>(window < N ? window : N);
  return W * (W + 1) / 2 + (static_cast<double>(N) - W) * W;
}

}  // namespace course::bench
