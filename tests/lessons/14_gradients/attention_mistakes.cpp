#include <string>
#include <utility>

#include "14_gradients/mistakes.hpp"
#include "reference/matmul.hpp"

namespace course::lesson_14 {

using namespace grading;

namespace {

/// A product that stands for the right one: with other factors, or with the scale at another power.
Mistake other_product(std::string name, const Tensor<float>& A, const Tensor<float>& B, double factor,
                      std::string sentence) {
  return gives(
      std::move(name), [=] { return times(reference::matmul(A, B), factor); }, std::move(sentence));
}

}  // namespace

Mistakes mistakes_in_dp(const Head& p) {
  const Tensor<float> Vt = p.V.transposed(0, 1), Kt = p.K.transposed(0, 1);
  return {other_product("k_for_v", p.dO, Kt, 1, "This is dO·Kᵀ: O = P·V, so that P meets V and not K."),
          other_product("q_for_do", p.Q, Vt, 1, "This is Q·Vᵀ: dP comes from dO, the gradient of P·V."),
          other_product("scale_in_dp", p.dO, Vt, static_cast<double>(p.scale),
                        "This is dO·Vᵀ·scale: O = P·V has no scale. It is S that has one.")};
}

Mistakes mistakes_in_dv(const Head& p, const HeadGradients& got) {
  const Tensor<float> Pt = p.P.transposed(0, 1), dSt = got.dS.transposed(0, 1);
  return {other_product("q_for_do", Pt, p.Q, 1, "This is Pᵀ·Q: dV comes from dO, the gradient of P·V."),
          other_product("ds_for_p", dSt, p.dO, 1, "This is dSᵀ·dO: V was multiplied with P."),
          other_product("scale_in_dv", Pt, p.dO, static_cast<double>(p.scale),
                        "This is Pᵀ·dO·scale: O = P·V has no scale. It is S that has one.")};
}

Mistakes mistakes_behind_ds(const Head& p, const HeadGradients& got, bool of_keys) {
  const auto as = [=](const Tensor<float>& x) { return of_keys ? x.transposed(0, 1) : x; };
  const std::string name = of_keys ? "dK" : "dQ", ds = of_keys ? "dSᵀ" : "dS", other = of_keys ? "Q" : "K";
  const Tensor<float>&factor = of_keys ? p.Q : p.K, &wrong = of_keys ? p.dO : p.V;
  const auto scale = static_cast<double>(p.scale);
  return {
      other_product("scale_missing", as(got.dS), factor, 1,
                    "This is " + ds + "·" + other + ": the scale is missing. It multiplies S = Q·Kᵀ·scale, " +
                        "and so it multiplies the gradients of Q and of K."),
      other_product("scale_twice", as(got.dS), factor, scale * scale,
                    "The scale is here twice: each of dQ and dK gets it once."),
      other_product("dp_for_ds", as(got.dP), factor, scale,
                    name + " is made of dP: between P and S lies the softmax. Take dS."),
      other_product("p_for_ds", as(p.P), factor, scale,
                    name + " is made of P: it takes a gradient, which is dS."),
      other_product(of_keys ? "do_for_q" : "v_for_k", as(got.dS), wrong, scale,
                    of_keys ? "This is dSᵀ·dO·scale: in S = Q·Kᵀ·scale, K meets Q."
                            : "This is dS·V·scale: in S = Q·Kᵀ·scale, Q meets K and not V."),
      off_by_a_factor("factor", "Every element is {} times what it should be."),
  };
}

}  // namespace course::lesson_14
