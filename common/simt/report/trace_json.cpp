#include <nlohmann/json.hpp>

#include "simt/report/document.hpp"
#include "simt/report/json.hpp"

namespace simt::report {
namespace {

Json array_json(const TracedArray& array) {
  return {{"name", array.name},
          {"address", array.address},
          {"element_bytes", array.element_bytes},
          {"shape", array.shape},
          {"strides", array.strides}};
}

Json step_json(const TraceStep& step) {
  Json lanes = Json::array();
  for (const LaneAccess& lane : step.lanes)
    lanes.push_back({{"lane", lane.lane},
                     {"thread", lane.thread},
                     {"index", lane.index},
                     {"offset", lane.offset},
                     {"address", lane.address}});
  return {{"warp", step.warp},     {"kind", step.kind},        {"memory", step.memory},
          {"array", step.array},   {"bytes", step.bytes},      {"file", step.file},
          {"line", step.line},     {"sectors", step.sectors},  {"wavefronts", step.wavefronts},
          {"active", step.active}, {"lanes", std::move(lanes)}};
}

}  // namespace

std::string trace_json(const Trace& trace) {
  const Json request{{"launch", trace.request.launch},
                     {"block", trace.request.block},
                     {"warp", trace.request.warp},
                     {"most_steps", trace.request.most_steps}};
  const Json head{{"version", 1},
                  {"request", request},
                  {"kernel", trace.kernel},
                  {"grid", trace.grid},
                  {"block_shape", trace.block_shape},
                  {"complete", trace.complete}};
  std::string text = open_document(head);
  add_list(text, "arrays", trace.arrays, array_json);
  add_list(text, "steps", trace.steps, step_json);  // one at a time: their JSON takes ten times their room
  return text + "}\n";
}

}  // namespace simt::report
