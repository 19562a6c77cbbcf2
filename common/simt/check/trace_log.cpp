#include "simt/check/trace_log.hpp"

#include <bit>
#include <utility>

#include "simt/check/recorder.hpp"

namespace simt::check {

void TraceLog::start(const TraceRequest& request) {
  trace_ = {};
  trace_.request = request;
  asked_ = true;
  recording_ = in_launch_ = false;
  warp_ = request.warp;
  launches_seen_ = 0;
}

Trace TraceLog::take() {
  asked_ = recording_ = false;
  return std::exchange(trace_, {});
}

void TraceLog::begin_launch(const LaunchFacts& facts) {
  recording_ = false;
  in_launch_ = asked_ && launches_seen_++ == trace_.request.launch;
  if (!in_launch_) return;
  trace_.kernel = facts.kernel;
  trace_.grid = {facts.grid.x, facts.grid.y, facts.grid.z};
  trace_.block_shape = {facts.block.x, facts.block.y, facts.block.z};
}

void TraceLog::begin_block(uint3 index) {
  const auto& wanted = trace_.request.block;
  recording_ = in_launch_ && index.x == wanted[0] && index.y == wanted[1] && index.z == wanted[2];
}

void TraceLog::note_arrays() {
  for (const ArrayName& name : memory_map().global_names())
    trace_.arrays.push_back({name.name, name.offset, name.element_bytes, name.view.shape, name.view.strides});
}

TraceStep* TraceLog::add(const char* kind, unsigned warp, LaneMask lanes, const SourceLine& line) {
  if (trace_.steps.size() >= trace_.request.most_steps) {
    trace_.complete = false;
    recording_ = false;
    return nullptr;
  }
  if (trace_.steps.empty()) note_arrays();
  TraceStep& step = trace_.steps.emplace_back();
  step.warp = warp;
  step.kind = kind;
  step.active = lanes;
  step.file = line.file;
  step.line = line.line;
  return &step;
}

void TraceLog::mark(const char* kind, unsigned warp, LaneMask lanes, const SourceLine& line) {
  add(kind, warp, lanes, line);
}

void TraceLog::access(const WarpAccess& access, const SourceLine& line, const SourceTexts& source,
                      unsigned sectors, unsigned wavefronts) {
  static constexpr const char* kNames[] = {"load", "store", "atomic"};
  TraceStep* step = add(kNames[static_cast<unsigned>(access.kind)], access.warp, access.lanes, line);
  if (step == nullptr) return;
  step->memory = access.space == Space::shared ? "shared" : "global";
  step->bytes = access.bytes;
  step->sectors = sectors;
  step->wavefronts = wavefronts;
  const auto& shape = trace_.block_shape;
  for (LaneMask rest = access.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const unsigned thread = access.warp * 32 + lane;
    const std::uint64_t address =
        access.offsets[lane] - (access.space == Space::shared ? Recorder::kMargin : 0);
    ElementName element = memory_map().element(access.space, access.offsets[lane], access.bytes, source);
    if (step->array.empty()) step->array = element.array;
    step->lanes.push_back({lane,
                           {thread % shape[0], thread / shape[0] % shape[1], thread / shape[0] / shape[1]},
                           element.offset,
                           std::move(element.index),
                           address});
  }
}

}  // namespace simt::check
