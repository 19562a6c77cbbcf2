#pragma once
/// @file
/// The findings of a run: each mistake once, with the number of times that it was made.

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "simt/findings.hpp"

namespace simt::check {

class FindingLog {
 public:
  /// True if that pair of sites has been told for that class in this launch; counts it once more. Cheap.
  bool repeated(const char* kind, unsigned site, unsigned other_site);
  /// Adds a finding, or counts it if the same class was found at the same lines before. `kind` is one of the
  /// constants of classes.hpp.
  void add(const char* kind, Finding finding, unsigned site, unsigned other_site);
  void begin_launch() { by_site_.clear(); }
  std::vector<Finding> take();
  std::size_t size() const { return findings_.size(); }

 private:
  std::vector<Finding> findings_;
  std::map<std::tuple<const void*, unsigned, unsigned>, std::size_t> by_site_;
  using Lines = std::tuple<std::string, std::string, int, std::string, int>;  ///< the class and both places
  std::map<Lines, std::size_t> by_line_;
};

}  // namespace simt::check
