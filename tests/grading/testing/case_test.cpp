#include "grading/testing/case.hpp"

#include <cstdint>
#include <set>
#include <string>

#include "support/catch.hpp"

using namespace course::grading;

namespace {

/// The seeds of that case for a while, whatever ran before.
struct NamedCase {
  NamedCase(const std::string& name, std::uint64_t base) : before_(current_case().name) {
    current_case().name = name;
    set_base_seed(base);
  }
  ~NamedCase() {
    current_case().name = before_;
    set_base_seed(0);
  }
  NamedCase(const NamedCase&) = delete;
  NamedCase& operator=(const NamedCase&) = delete;

 private:
  std::string before_;
};

}  // namespace

TEST_CASE("a case's seed is that of its name, and data that READMEs show stay what they are") {
  const NamedCase one("adds", 0);
  CHECK(case_seed() == 0xc9e2aa83d2171445U);  // FNV-1a
  CHECK(order_seed() == case_seed());
}

TEST_CASE("with a seed of one's own, no two cases, seeds or purposes share one") {
  std::set<std::uint64_t> seeds;
  for (const char* name : {"adds", "copies"})
    for (const std::uint64_t base : {1, 2, 3}) {
      const NamedCase one(name, base);
      seeds.insert({case_seed(), order_seed()});
      CHECK(case_seed() == case_seed());
    }
  CHECK(seeds.size() == 12);
}

TEST_CASE(
    "a case's seed is the beginning of a digest, which tells nothing of the seed that it is made from") {
  const NamedCase one("adds", 7);
  CHECK(case_seed() == 0x496e24d9e61d88f6U);   // of "data 7 adds"
  CHECK(order_seed() == 0xef9477598bb7989cU);  // of "order 7 adds"
}
