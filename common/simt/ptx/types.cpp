#include "simt/ptx/types.hpp"

#include <algorithm>
#include <array>

namespace simt::ptx {
namespace {

struct Facts {
  std::string_view name;
  unsigned bits;
  Sort sort;
};

/// By Type. The packed types and the formats that only conversions know live in registers of bits.
constexpr std::array kFacts = {
    Facts{"none", 0, Sort::bits},    Facts{"pred", 0, Sort::predicate}, Facts{"b8", 8, Sort::bits},
    Facts{"b16", 16, Sort::bits},    Facts{"b32", 32, Sort::bits},      Facts{"b64", 64, Sort::bits},
    Facts{"b128", 128, Sort::bits},  Facts{"u8", 8, Sort::integer},     Facts{"u16", 16, Sort::integer},
    Facts{"u32", 32, Sort::integer}, Facts{"u64", 64, Sort::integer},   Facts{"s8", 8, Sort::integer},
    Facts{"s16", 16, Sort::integer}, Facts{"s32", 32, Sort::integer},   Facts{"s64", 64, Sort::integer},
    Facts{"f16", 16, Sort::real},    Facts{"f16x2", 32, Sort::bits},    Facts{"bf16", 16, Sort::bits},
    Facts{"bf16x2", 32, Sort::bits}, Facts{"tf32", 32, Sort::bits},     Facts{"f32", 32, Sort::real},
    Facts{"f64", 64, Sort::real},    Facts{"e4m3x2", 16, Sort::bits},   Facts{"e5m2x2", 16, Sort::bits}};

const Facts& facts(Type type) { return kFacts[static_cast<std::size_t>(type)]; }

}  // namespace

std::optional<Type> type_named(std::string_view name) {
  const auto found =
      std::find_if(kFacts.begin() + 1, kFacts.end(), [&](const Facts& f) { return f.name == name; });
  if (found == kFacts.end()) return std::nullopt;
  return static_cast<Type>(found - kFacts.begin());
}

std::string_view name_of(Type type) { return facts(type).name; }
unsigned bits_of(Type type) { return facts(type).bits; }
Sort sort_of(Type type) { return facts(type).sort; }

bool takes(Type wanted, Type of_register, bool wider) {
  const Sort a = sort_of(wanted), b = sort_of(of_register);
  if ((a == Sort::predicate) != (b == Sort::predicate)) return false;
  if (a == Sort::predicate) return true;
  const unsigned want = bits_of(wanted), has = bits_of(of_register);
  if (has != want && !(wider && has > want && b != Sort::real)) return false;
  return a == Sort::bits || b == Sort::bits || a == b;
}

}  // namespace simt::ptx
