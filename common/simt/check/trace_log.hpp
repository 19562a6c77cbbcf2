#pragma once
/// @file
/// Records the accesses of one block for simt::take_trace().

#include "simt/check/detector.hpp"
#include "simt/check/traffic.hpp"
#include "simt/trace.hpp"

namespace simt::check {

class TraceLog {
 public:
  void start(const TraceRequest& request);
  Trace take();

  void begin_launch(const LaunchFacts& facts);
  void begin_block(uint3 index);

  /// True if what that warp does now is to be recorded. Cheap when it is not.
  bool wants(unsigned warp) const {
    return recording_ && (warp_ < 0 || static_cast<unsigned>(warp_) == warp);
  }
  /// `source`: what the line and its callers say, which tells arrays in the same memory apart.
  void access(const WarpAccess& access, const SourceLine& line, const SourceTexts& source, unsigned sectors,
              unsigned wavefronts);
  void mark(const char* kind, unsigned warp, LaneMask lanes, const SourceLine& line);

 private:
  void note_arrays();
  TraceStep* add(const char* kind, unsigned warp, LaneMask lanes, const SourceLine& line);

  bool asked_ = false, recording_ = false, in_launch_ = false;
  int warp_ = -1;
  unsigned launches_seen_ = 0;
  Trace trace_;
};

}  // namespace simt::check
