#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reference/attention.hpp"
#include "reference/attention_gradients.hpp"
#include "support/catch.hpp"
#include "tensor/float16.hpp"
#include "tensor/npy.hpp"

// The reference against what PyTorch computed in float64: tests/reference/golden/README.md, and
// golden_16_torch, where the inputs have 16 bits.

using namespace course;

namespace {

namespace fs = std::filesystem;

/// One case of cases.json.
struct Golden {
  fs::path folder;
  std::string name;
  std::int64_t B, H, H_kv, Nq, Nk, D;
  double scale;
  reference::Mask mask;
  bool sink;                       ///< whether there is a learned sink
  bool gradients;                  ///< whether there are dq, dk, dv and, with a sink, dsink
  std::optional<Format16> format;  ///< of the inputs; none: float32

  Shape q_shape() const { return {B, H, Nq, D}; }
  Shape k_shape() const { return {B, H_kv, Nk, D}; }
  bool windowed() const { return mask.window < Nk; }
};

fs::path golden_folder() { return COURSE_TEST_GOLDEN; }
fs::path golden_folder_of_16_bits() { return COURSE_TEST_GOLDEN_16_TORCH; }

std::vector<Golden> golden_cases(const fs::path& folder) {
  std::ifstream file(folder / "cases.json");
  const auto root = nlohmann::json::parse(file);
  std::vector<Golden> cases;
  for (const auto& x : root.at("cases")) {
    reference::Mask mask{.causal = x.at("causal"), .sinks = x.at("sinks")};
    if (!x.at("window").is_null()) mask.window = x.at("window");
    std::optional<Format16> format;
    if (x.contains("format")) format = x.at("format") == "bfloat16" ? Format16::bfloat16 : Format16::float16;
    cases.push_back({folder, x.at("name"), x.at("B"), x.at("H"), x.at("H_kv"), x.at("Nq"), x.at("Nk"),
                     x.at("D"), x.at("scale"), mask, x.at("sink"), x.at("gradients"), format});
  }
  REQUIRE(!cases.empty());
  return cases;
}
std::vector<Golden> all_golden_cases() {
  std::vector<Golden> cases = golden_cases(golden_folder());
  for (const Golden& g : golden_cases(golden_folder_of_16_bits())) cases.push_back(g);
  return cases;
}

template <class T>
Tensor<T> golden_array(const Golden& g, const std::string& name, const Shape& shape) {
  Tensor<T> array = read_npy<T>(g.folder / g.name / (name + ".npy"));
  INFO(name);
  REQUIRE(array.shape() == shape);
  return array;
}

/// q, k, v or dout.
Tensor<float> golden_input(const Golden& g, const std::string& name, const Shape& shape) {
  if (!g.format) return golden_array<float>(g, name, shape);
  return *g.format == Format16::bfloat16 ? golden_array<bfloat16>(g, name, shape).to<float>()
                                         : golden_array<float16>(g, name, shape).to<float>();
}

/// What the reference and PyTorch are given.
struct Inputs {
  Tensor<float> q, k, v;
  std::optional<Tensor<float>> sink;

  explicit Inputs(const Golden& g)
      : q(golden_input(g, "q", g.q_shape())),
        k(golden_input(g, "k", g.k_shape())),
        v(golden_input(g, "v", g.k_shape())) {
    if (g.sink) sink = golden_array<float>(g, "sink", {g.H});
  }
};

bool agrees(double got, double expected) {
  if (std::isinf(expected)) return got == expected;
  return std::abs(got - expected) <= 1e-12 * std::max(1.0, std::abs(expected));
}

void check_agrees(const char* name, const Tensor<double>& got, const Tensor<double>& expected) {
  REQUIRE(got.shape() == expected.shape());
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    if (agrees(got.at_linear(i), expected.at_linear(i))) continue;
    if (++wrong == 1)
      UNSCOPED_INFO(name << ", first at element " << i << ": " << got.at_linear(i) << ", PyTorch "
                         << expected.at_linear(i));
  }
  CHECK(wrong == 0);
}

/// The sum of all products of elements at the same place.
template <class A, class B>
double inner(const Tensor<A>& a, const Tensor<B>& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i)
    sum += static_cast<double>(a.at_linear(i)) * static_cast<double>(b.at_linear(i));
  return sum;
}

template <class T>
bool any(const Tensor<T>& x, const std::function<bool(double)>& holds) {
  for (std::int64_t i = 0; i < x.numel(); ++i)
    if (holds(static_cast<double>(x.at_linear(i)))) return true;
  return false;
}

}  // namespace

TEST_CASE("the attention reference agrees with PyTorch in every golden case") {
  for (const Golden& g : all_golden_cases()) {
    INFO("case " << g.name);
    const Inputs in(g);
    const reference::Attention a =
        reference::attention(in.q, in.k, in.v, g.scale, g.mask, in.sink ? &*in.sink : nullptr);
    check_agrees("O", a.O, golden_array<double>(g, "o", g.q_shape()));
    check_agrees("lse", a.lse, golden_array<double>(g, "lse", {g.B, g.H, g.Nq}));
  }
}

TEST_CASE("the gradients of the attention reference agree with PyTorch's autograd in every golden case") {
  std::int64_t compared = 0;
  for (const Golden& g : all_golden_cases()) {
    if (!g.gradients) continue;
    INFO("case " << g.name);
    const Inputs in(g);
    const reference::AttentionGradients got =
        reference::attention_gradients(in.q, in.k, in.v, golden_input(g, "dout", g.q_shape()), g.scale,
                                       g.mask, in.sink ? &*in.sink : nullptr);
    check_agrees("dQ", got.dQ, golden_array<double>(g, "dq", g.q_shape()));
    check_agrees("dK", got.dK, golden_array<double>(g, "dk", g.k_shape()));
    check_agrees("dV", got.dV, golden_array<double>(g, "dv", g.k_shape()));
    if (g.sink) check_agrees("dsink", got.dsink, golden_array<double>(g, "dsink", {g.H}));
    ++compared;
  }
  CHECK(compared >= 60);
}

TEST_CASE("the gradients for an output of 16 bits agree with PyTorch's arithmetic in every golden case") {
  for (const Golden& g : golden_cases(golden_folder_of_16_bits())) {
    if (!g.gradients) continue;
    INFO("case " << g.name);
    const Inputs in(g);
    const Tensor<float>* sink = in.sink ? &*in.sink : nullptr;
    reference::Attention forward = reference::attention(in.q, in.k, in.v, g.scale, g.mask, sink);
    forward.O = *g.format == Format16::bfloat16 ? forward.O.to<bfloat16>().to<double>()
                                                : forward.O.to<float16>().to<double>();
    const reference::AttentionGradients got = reference::attention_gradients(
        forward, in.q, in.k, in.v, golden_input(g, "dout", g.q_shape()), g.scale, sink);
    check_agrees("dQ", got.dQ, golden_array<double>(g, "dq_of_rounded_o", g.q_shape()));
    check_agrees("dK", got.dK, golden_array<double>(g, "dk_of_rounded_o", g.k_shape()));
    if (g.sink) check_agrees("dsink", got.dsink, golden_array<double>(g, "dsink_of_rounded_o", {g.H}));
  }
}

TEST_CASE("the golden gradients are finite, and belong to the golden outputs") {
  for (const Golden& g : all_golden_cases()) {
    INFO("case " << g.name);
    const Inputs in(g);
    const auto dout = golden_input(g, "dout", g.q_shape());
    if (!g.gradients) continue;
    const auto dq = golden_array<double>(g, "dq", g.q_shape());
    const auto dk = golden_array<double>(g, "dk", g.k_shape());
    const auto dv = golden_array<double>(g, "dv", g.k_shape());
    const auto is_not_finite = [](double x) { return !std::isfinite(x); };
    CHECK(!any(dq, is_not_finite));
    CHECK(!any(dk, is_not_finite));
    CHECK(!any(dv, is_not_finite));
    if (g.sink) CHECK(!any(golden_array<double>(g, "dsink", {g.H}), is_not_finite));

    // O is linear in V; and Q and K enter by their product only, so that both sums are Σ dS·S.
    const auto near = [](double a, double b) {
      return std::abs(a - b) <= 1e-10 * std::max(1.0, std::abs(b));
    };
    CHECK(near(inner(dv, in.v), inner(dout, golden_array<double>(g, "o", g.q_shape()))));
    CHECK(near(inner(dq, in.q), inner(dk, in.k)));
  }
}

TEST_CASE("each file of the golden folders belongs to a case of their lists, and none is missing") {
  for (const fs::path& folder : {golden_folder(), golden_folder_of_16_bits()}) {
    std::set<std::string> expected = {"README.md", "cases.json"};
    for (const Golden& g : golden_cases(folder)) {
      std::vector<std::string> names = {"q", "k", "v", "dout", "o", "lse"};
      if (g.sink) names.emplace_back("sink");
      if (g.gradients) names.insert(names.end(), {"dq", "dk", "dv"});
      if (g.gradients && g.sink) names.emplace_back("dsink");
      if (g.gradients && g.format) names.insert(names.end(), {"dq_of_rounded_o", "dk_of_rounded_o"});
      if (g.gradients && g.format && g.sink) names.emplace_back("dsink_of_rounded_o");
      for (const std::string& name : names) {
        INFO(g.name << "/" << name);
        CHECK(expected.insert(g.name + "/" + name + ".npy").second);
      }
    }
    std::set<std::string> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
      if (!entry.is_directory()) found.insert(entry.path().lexically_relative(folder).generic_string());
    CHECK(found == expected);
  }
}

TEST_CASE("the golden cases cover each rule of the attention reference") {
  const std::vector<Golden> cases = golden_cases(golden_folder());
  const auto covered = [&](const std::function<bool(const Golden&)>& fits) {
    for (const Golden& g : cases)
      if (fits(g)) return true;
    return false;
  };
  const auto sink_holds = [](const Golden& g, const std::function<bool(double)>& holds) {
    return g.sink && any(*Inputs(g).sink, holds);
  };
  const auto has_score_above = [](const Golden& g, double bound) {
    const Inputs in(g);
    return any(golden_array<double>(g, "lse", {g.B, g.H, g.Nq}), [&](double x) { return x > bound; });
  };
  using G = const Golden&;

  CHECK(covered([](G g) { return !g.mask.causal && g.Nq < g.Nk; }));
  CHECK(covered([](G g) { return !g.mask.causal && g.Nq > g.Nk; }));
  CHECK(covered([](G g) { return g.Nq == 1; }));
  CHECK(covered([](G g) { return g.Nk == 1; }));
  CHECK(covered([](G g) { return g.D == 1; }));
  CHECK(covered([](G g) { return g.B > 1; }));

  CHECK(covered([](G g) { return g.mask.causal && !g.windowed() && g.Nq == g.Nk; }));
  CHECK(covered([](G g) { return g.mask.causal && !g.windowed() && g.Nq < g.Nk; }));
  CHECK(covered([](G g) { return g.mask.causal && !g.windowed() && g.Nq > g.Nk; }));

  CHECK(covered([](G g) { return g.H == 4 && g.H_kv == 2; }));
  CHECK(covered([](G g) { return g.H == 4 && g.H_kv == 1; }));

  CHECK(covered([](G g) { return g.mask.causal && g.mask.window == 1; }));
  CHECK(covered([](G g) { return g.mask.causal && g.mask.window == 3; }));
  CHECK(covered([](G g) { return g.mask.causal && g.mask.window == g.Nk; }));
  CHECK(covered([](G g) { return g.mask.causal && g.windowed() && g.Nq < g.Nk; }));
  CHECK(covered([](G g) { return g.mask.causal && g.windowed() && g.Nq > g.Nk; }));
  CHECK(covered([](G g) { return !g.mask.causal && g.windowed(); }));

  CHECK(covered([](G g) { return g.windowed() && g.mask.sinks == 1; }));
  CHECK(covered([](G g) { return g.windowed() && g.mask.sinks == 4; }));
  CHECK(covered([](G g) { return g.windowed() && g.mask.sinks > g.mask.window; }));
  CHECK(covered([](G g) { return g.mask.causal && g.windowed() && g.mask.sinks > g.Nk; }));
  CHECK(covered([](G g) { return !g.mask.causal && g.windowed() && g.mask.sinks > 0; }));

  CHECK(covered([&](G g) { return sink_holds(g, [](double x) { return x == 100; }); }));
  CHECK(covered([&](G g) { return sink_holds(g, [](double x) { return std::isinf(x) && x < 0; }); }));
  CHECK(covered([&](G g) { return sink_holds(g, [](double x) { return std::isfinite(x) && x <= -100; }); }));
  CHECK(covered([](G g) { return g.sink && g.mask.causal && g.Nq > g.Nk; }));
  CHECK(covered([](G g) { return g.sink && g.mask.sinks > 0; }));
  CHECK(covered([](G g) {
    return g.sink && g.mask.causal && g.windowed() && g.mask.sinks > 0 && g.H_kv < g.H && g.Nq < g.Nk;
  }));

  CHECK(covered([&](G g) { return has_score_above(g, 1000); }));
  CHECK(covered([](G g) { return any(Inputs(g).k, [](double x) { return std::isinf(x); }); }));
  CHECK(covered([](G g) {
    return any(Inputs(g).k, [](double x) { return std::isinf(x); }) &&
           any(golden_array<double>(g, "lse", {g.B, g.H, g.Nq}), [](double x) { return std::isinf(x); });
  }));
}
