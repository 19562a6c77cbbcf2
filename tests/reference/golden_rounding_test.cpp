#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference/attention.hpp"
#include "reference/attention_gradients.hpp"
#include "support/catch.hpp"
#include "tensor/npy.hpp"

// The reference on inputs of 16 bits, exact and rounded, against NumPy: tests/reference/golden_16/README.md.

using namespace course;

namespace {

namespace fs = std::filesystem;

fs::path golden_folder() { return COURSE_TEST_GOLDEN_16; }

/// One case of cases.json.
struct Golden {
  std::string name;
  Format16 format;
  double scale;
  reference::Mask mask;
  bool sink;  ///< whether there is a learned sink

  template <class T>
  Tensor<T> array(const std::string& array) const {
    return read_npy<T>(golden_folder() / name / (array + ".npy"));
  }
  /// An array of the case's type of 16 bits.
  Tensor<float> array_16(const std::string& name_of_array) const {
    return format == Format16::bfloat16 ? array<bfloat16>(name_of_array).to<float>()
                                        : array<float16>(name_of_array).to<float>();
  }
};

std::vector<Golden> golden_cases() {
  std::ifstream file(golden_folder() / "cases.json");
  const auto root = nlohmann::json::parse(file);
  std::vector<Golden> cases;
  for (const auto& x : root.at("cases")) {
    reference::Mask mask{.causal = x.at("causal"), .sinks = x.at("sinks")};
    if (!x.at("window").is_null()) mask.window = x.at("window");
    cases.push_back({x.at("name"), x.at("format") == "bfloat16" ? Format16::bfloat16 : Format16::float16,
                     x.at("scale"), mask, x.at("sink")});
  }
  REQUIRE(cases.size() == 10);
  return cases;
}

/// A case's inputs, and what the reference makes of them.
struct Inputs {
  Tensor<float> q, k, v, dout;
  std::optional<Tensor<float>> sink;
  double scale;
  reference::Mask mask;

  explicit Inputs(const Golden& g)
      : q(g.array_16("q")),
        k(g.array_16("k")),
        v(g.array_16("v")),
        dout(g.array_16("dout")),
        scale(g.scale),
        mask(g.mask) {
    if (g.sink) sink = g.array<float>("sink");
  }
  const Tensor<float>* sink_or_null() const { return sink ? &*sink : nullptr; }
  reference::Attention attend(const reference::Rounding& rounding = {}) const {
    return reference::attention(q, k, v, scale, mask, sink_or_null(), nullptr, rounding);
  }
  /// With the exact O in D.
  reference::AttentionGradients differentiate(const reference::Rounding& rounding = {}) const {
    return reference::attention_gradients(attend(), q, k, v, dout, scale, sink_or_null(), nullptr, rounding);
  }
};

/// Elements that differ by more than the last digits of a float64.
int wrong_elements(const Tensor<double>& got, const Tensor<double>& expected) {
  REQUIRE(got.shape() == expected.shape());
  int wrong = 0;
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    const double a = got.at_linear(i), b = expected.at_linear(i);
    if (std::isinf(b) ? a != b : !(std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b)))) ++wrong;
  }
  return wrong;
}

}  // namespace

TEST_CASE("the reference agrees with NumPy on inputs of 16 bits") {
  for (const Golden& g : golden_cases()) {
    INFO(g.name);
    const Inputs in(g);
    const reference::Attention forward = in.attend();
    CHECK(wrong_elements(forward.O, g.array<double>("o")) == 0);
    CHECK(wrong_elements(forward.lse, g.array<double>("lse")) == 0);
    const reference::AttentionGradients gradients = in.differentiate();
    CHECK(wrong_elements(gradients.dQ, g.array<double>("dq")) == 0);
    CHECK(wrong_elements(gradients.dK, g.array<double>("dk")) == 0);
    CHECK(wrong_elements(gradients.dV, g.array<double>("dv")) == 0);
    if (g.sink) CHECK(wrong_elements(gradients.dsink, g.array<double>("dsink")) == 0);
  }
}

TEST_CASE("rounded operands give what they give in NumPy, and something else than exact ones") {
  for (const Golden& g : golden_cases()) {
    INFO(g.name);
    const Inputs in(g);
    const reference::Rounding operands{.operands = g.format};
    const Tensor<double> O = in.attend(operands).O;
    CHECK(wrong_elements(O, g.array<double>("o_operands")) == 0);
    CHECK(wrong_elements(O, g.array<double>("o")) > 0);
    CHECK(wrong_elements(in.attend({.operands = g.format, .sums_rounded = true}).lse,
                         g.array<double>("lse_sums")) == 0);
    const reference::AttentionGradients gradients = in.differentiate(operands);
    CHECK(wrong_elements(gradients.dQ, g.array<double>("dq_operands")) == 0);
    CHECK(wrong_elements(gradients.dK, g.array<double>("dk_operands")) == 0);
    CHECK(wrong_elements(gradients.dV, g.array<double>("dv_operands")) == 0);
    CHECK(wrong_elements(gradients.dV, g.array<double>("dv")) > 0);
  }
}

TEST_CASE("rounded results have the bits that NumPy writes") {
  for (const Golden& g : golden_cases()) {
    INFO(g.name);
    const Inputs in(g);
    const reference::Rounding results{.results = g.format};
    const auto differs = [&](const Tensor<double>& got, const std::string& name) {
      return wrong_elements(got, g.array_16(name).to<double>());
    };
    CHECK(differs(in.attend(results).O, "o_results") == 0);
    const reference::AttentionGradients gradients = in.differentiate(results);
    CHECK(differs(gradients.dQ, "dq_results") == 0);
    CHECK(differs(gradients.dK, "dk_results") == 0);
    CHECK(differs(gradients.dV, "dv_results") == 0);
  }
}
