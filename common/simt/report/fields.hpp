#pragma once
/// @file
/// The counters by name: what sums them, writes them and reads them walks these tables.

#include "simt/matrix/work.hpp"
#include "simt/profile.hpp"

namespace simt::report {

template <class Struct, class Value>
struct Field {
  const char* name;
  Value Struct::*member;
};

inline constexpr Field<GlobalTraffic, std::uint64_t> kGlobalFields[] = {
    {"requests", &GlobalTraffic::requests},
    {"sectors", &GlobalTraffic::sectors},
    {"ideal_sectors", &GlobalTraffic::ideal_sectors},
    {"bytes_asked", &GlobalTraffic::bytes_asked},
    {"bytes", &GlobalTraffic::bytes},
};

inline constexpr Field<SharedTraffic, std::uint64_t> kSharedFields[] = {
    {"requests", &SharedTraffic::requests},
    {"wavefronts", &SharedTraffic::wavefronts},
    {"ideal_wavefronts", &SharedTraffic::ideal_wavefronts},
    {"bytes_asked", &SharedTraffic::bytes_asked},
};

inline constexpr Field<Counters, GlobalTraffic> kGlobalKinds[] = {
    {"global_load", &Counters::global_load},
    {"global_store", &Counters::global_store},
    {"global_atomic", &Counters::global_atomic},
};

inline constexpr Field<Counters, SharedTraffic> kSharedKinds[] = {
    {"shared_load", &Counters::shared_load},
    {"shared_store", &Counters::shared_store},
    {"shared_atomic", &Counters::shared_atomic},
};

inline constexpr Field<Counters, std::uint64_t> kEventFields[] = {
    {"barriers", &Counters::barriers},
    {"warp_syncs", &Counters::warp_syncs},
    {"signals", &Counters::signals},
    {"shuffles", &Counters::shuffles},
    {"votes", &Counters::votes},
    {"steps", &Counters::steps},
    {"divergent_steps", &Counters::divergent_steps},
    {"lanes", &Counters::lanes},
    {"matrix_instructions", &Counters::matrix_instructions},
    {"matrix_float16", &Counters::matrix_float16},
    {"matrix_float8", &Counters::matrix_float8},
    {"matrix_tf32", &Counters::matrix_tf32},
    {"matrix_f64", &Counters::matrix_f64},
    {"matrix_integer8", &Counters::matrix_integer8},
    {"float_instructions", &Counters::float_instructions},
    {"special_instructions", &Counters::special_instructions},
};

/// Where the multiply-adds of a kind of matrix products are counted.
constexpr std::uint64_t& matrix_multiply_adds(Counters& counters, MatrixKind kind) {
  switch (kind) {
    case MatrixKind::float8:
      return counters.matrix_float8;
    case MatrixKind::tf32:
      return counters.matrix_tf32;
    case MatrixKind::f64:
      return counters.matrix_f64;
    case MatrixKind::integer8:
      return counters.matrix_integer8;
    case MatrixKind::float16:
      break;
  }
  return counters.matrix_float16;
}

inline void add(GlobalTraffic& sum, const GlobalTraffic& other) {
  for (const auto& field : kGlobalFields) sum.*field.member += other.*field.member;
}

inline void add(SharedTraffic& sum, const SharedTraffic& other) {
  for (const auto& field : kSharedFields) sum.*field.member += other.*field.member;
}

inline void add(Counters& sum, const Counters& other) {
  for (const auto& kind : kGlobalKinds) add(sum.*kind.member, other.*kind.member);
  for (const auto& kind : kSharedKinds) add(sum.*kind.member, other.*kind.member);
  for (const auto& field : kEventFields) sum.*field.member += other.*field.member;
}

/// @brief Loads, stores and atomics together.
inline GlobalTraffic global_traffic(const Counters& counters) {
  GlobalTraffic sum;
  for (const auto& kind : kGlobalKinds) add(sum, counters.*kind.member);
  return sum;
}

inline SharedTraffic shared_traffic(const Counters& counters) {
  SharedTraffic sum;
  for (const auto& kind : kSharedKinds) add(sum, counters.*kind.member);
  return sum;
}

}  // namespace simt::report
