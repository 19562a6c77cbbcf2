#pragma once
/// @file
/// Findings, profiles and traces as JSON, for programs.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "simt/findings.hpp"
#include "simt/profile.hpp"
#include "simt/trace.hpp"

namespace simt::report {

using Json = nlohmann::ordered_json;

/// @brief
/// {"class","severity","kernel",SIDE,"other","headline","called_from","waiting","memory","element","what",
/// "rule","fix","message","count"}. SIDE is "file","line","block","thread","calls"; a call is
/// {"file","line","function","text"}, and the first call is the place itself. "other" is null or {SIDE};
/// "headline" is null or the call that the message begins with; "called_from" is null or "kernel.cu:12".
/// "waiting" holds, for a deadlock, {SIDE,"barrier","threads":[{"warp","lanes"}],"awaited"}, lanes as bits.
Json to_json(const Finding& finding);

/// @brief {"kernel","grid","block","total",lines:[{"file","line","counters"}]}. "total" and "counters" hold
/// every member of Counters under its name, and "conflicts" beside the wavefronts.
Json to_json(const LaunchProfile& profile);

/// @brief {"version":1,"findings":[...],"launches":[...]}: one finding a line, then one launch a line, not
/// summed. Valid UTF-8, with a line break at the end.
std::string report_json(const std::vector<Finding>& findings, const std::vector<LaunchProfile>& profiles);

/// @brief One step a line, so that a trace can be read and searched:
/// ```
/// {"version": 1,
///  "request": {"launch": 0, "block": [0,0,0], "warp": -1, "most_steps": 10000},
///  "kernel": "transpose", "grid": [4,4,1], "block_shape": [32,8,1], "complete": true,
///  "arrays": [
///   {"name": "in", "address": 4096, "element_bytes": 4, "shape": [], "strides": []},
///   ...],
///  "steps": [
///   {"warp": 0, "kind": "load", "memory": "global", "array": "in", "bytes": 4, "file": "transpose.cu",
///    "line": 12, "sectors": 4, "wavefronts": 0, "active": 4294967295,
///    "lanes": [{"lane": 0, "thread": [0,0,0], "index": [0], "offset": 0, "address": 4096}, ...]},
///   ...]}
/// ```
/// `warp` -1 in the request means all warps of the block. `kind` is "load", "store", "atomic", "barrier",
/// "syncwarp", "shuffle" or "vote"; `memory` is "global", "shared" or "" and `array` may be "" where its name
/// is not known. `bytes` is what each lane accesses, `active` the mask of the lanes that take part. A lane's
/// `index` is that of its element, [] if the array is not known; `offset` counts bytes from the start of the
/// array, `address` from the start of device memory or of the block's shared memory: sectors begin at
/// multiples of 32, and the bank is address / 4 mod 32. Only accesses have lanes. `arrays` has the kernel's
/// pointers; `shape` and `strides`, in elements, of those that are views, such as course::View. `complete` is
/// false if recording stopped at `most_steps`.
std::string trace_json(const Trace& trace);

}  // namespace simt::report
