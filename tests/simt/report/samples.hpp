#pragma once
/// @file
/// Profiles and findings made by hand, with numbers that a reader can check.

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "simt/findings.hpp"
#include "simt/profile.hpp"

namespace samples {

/// The source that the profiles below belong to.
inline constexpr const char* kTranspose =
    "__global__ void transpose(float* out, const float* in, int n) {\n"
    "  __shared__ float tile[32][32];\n"
    "  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n"
    "  tile[threadIdx.y][threadIdx.x] = in[y * n + x];\n"
    "  __syncthreads();\n"
    "  out[x * n + y] = tile[threadIdx.x][threadIdx.y];\n"
    "}\n";

/// A folder with transpose.cu in it, gone at the end of the scope.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "simt_report_test_XXXXXX") {
    std::string name = path_.string();
    path_ = mkdtemp(name.data());
    std::ofstream(path_ / "transpose.cu") << kTranspose;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// One block of 32 x 32 threads: 32 warps. The stores are a column apart, the reads of the tile share a bank.
inline simt::LaunchProfile transpose() {
  simt::LineProfile copy_in{.file = "transpose.cu", .line = 4, .counters = {}};
  copy_in.counters.global_load = {
      .requests = 32, .sectors = 128, .ideal_sectors = 128, .bytes_asked = 4096, .bytes = 4096};
  copy_in.counters.shared_store = {
      .requests = 32, .wavefronts = 32, .ideal_wavefronts = 32, .bytes_asked = 4096};
  copy_in.counters.steps = 32;
  copy_in.counters.lanes = 1024;
  simt::LineProfile barrier{.file = "transpose.cu", .line = 5, .counters = {}};
  barrier.counters.barriers = 32;
  simt::LineProfile copy_out{.file = "transpose.cu", .line = 6, .counters = {}};
  copy_out.counters.global_store = {
      .requests = 32, .sectors = 1024, .ideal_sectors = 128, .bytes_asked = 4096, .bytes = 32768};
  copy_out.counters.shared_load = {
      .requests = 32, .wavefronts = 1024, .ideal_wavefronts = 32, .bytes_asked = 4096};
  copy_out.counters.steps = 32;
  copy_out.counters.lanes = 1024;

  simt::LaunchProfile profile;
  profile.kernel = "transpose";
  profile.grid = {1, 1, 1};
  profile.block = {32, 32, 1};
  profile.lines = {copy_in, barrier, copy_out};
  profile.total = copy_out.counters;
  profile.total.global_load = copy_in.counters.global_load;
  profile.total.shared_store = copy_in.counters.shared_store;
  profile.total.barriers = 32;
  profile.total.steps = 64;
  profile.total.lanes = 2048;
  return profile;
}

inline simt::Finding race() {
  simt::Finding finding;
  finding.kind = "race";
  finding.kernel = "transpose";
  finding.here = {.file = "transpose.cu", .line = 6, .block = {0, 0, 0}, .thread = {1, 0, 0}};
  finding.other = {.file = "transpose.cu", .line = 4, .block = {0, 0, 0}, .thread = {0, 1, 0}};
  finding.memory = "shared";
  finding.element = "tile[1][0]";
  finding.what = "thread (1,0,0) reads tile[1][0] while thread (0,1,0) writes it at line 4.";
  finding.rule = "Nothing orders the two.";
  finding.fix = "Put __syncthreads() between them.";
  finding.count = 992;
  return finding;
}

/// The same in a function of a header.
inline simt::Finding race_in_helper() {
  simt::Finding finding = race();
  finding.here.file = "device/tile.hpp";
  finding.here.line = 88;
  finding.here.calls = {{"device/tile.hpp", 88, "load_tile", "to[i] = x;"},
                        {"transpose.cu", 6, "transpose", "load_tile(x, tile);"}};
  finding.other.calls = {{"transpose.cu", 4, "transpose", "y[0] = tile[0][0];"}};
  finding.called_from = "transpose.cu:6";
  finding.what = "in load_tile() (tile.hpp:88), " + finding.what;
  return finding;
}

}  // namespace samples
