#pragma once
// Thrust's random numbers: the engines of the C++ library, and distributions whose numbers are those of a
// GPU.

#include <iostream>  // which programs get by it
#include <random>

#include "../simt_thrust.h"

namespace thrust {
namespace random {

using std::minstd_rand, std::minstd_rand0;
using default_random_engine = minstd_rand;

/// From a up to, but not including, b.
template <class T = double>
class uniform_real_distribution {
 public:
  using result_type = T;
  explicit uniform_real_distribution(T a = 0, T b = 1) : a_(a), b_(b) {}
  template <class Engine>
  T operator()(Engine& engine) const {
    const T numbers = static_cast<T>(1) + static_cast<T>(Engine::max() - Engine::min());
    return static_cast<T>(engine() - Engine::min()) / numbers * (b_ - a_) + a_;
  }

 private:
  T a_, b_;
};

/// From a to b, both included.
template <class T = int>
class uniform_int_distribution {
 public:
  using result_type = T;
  explicit uniform_int_distribution(T a = 0, T b = std::numeric_limits<T>::max()) : a_(a), b_(b) {}
  template <class Engine>
  T operator()(Engine& engine) const {
    const uniform_real_distribution<double> real(static_cast<double>(a_), static_cast<double>(b_) + 1);
    return static_cast<T>(real(engine));
  }

 private:
  T a_, b_;
};

}  // namespace random

using namespace random;

}  // namespace thrust
