#pragma once

#include <cstddef>
#include <vector>

#include "grading/base/descriptor.hpp"
#include "grading/calls/protocol.hpp"
#include "grading/calls/shared_memory.hpp"
#include "grading/calls/worker/backend.hpp"

namespace course::grading {

/// @brief The arrays of one call where the entry finds them: in device memory, or as a private copy in host
/// memory that kernels cannot touch.
class CallArrays {
 public:
  /// @throws std::exception if there is no memory for them.
  CallArrays(const CallMessage& call, const Descriptor& input);

  /// Leaves device memory to end with the process unless release() was called: after a fault nothing works
  /// any more.
  ~CallArrays();
  CallArrays(const CallArrays&) = delete;
  CallArrays& operator=(const CallArrays&) = delete;

  /// @brief The address of the data of array i.
  void* data(std::size_t i) const;

  /// @brief Which arrays a copy of the entry's touched.
  HostMoves moves(const backend::Copies& copies) const;

  /// @brief Writes the images that the grader wants to see into the output memory; of a bare call, the data.
  void copy_results(const Mapping& output) const;

  void release();

 private:
  struct Placed {
    ArrayMessage message;
    std::byte* device = nullptr;  ///< start of the allocation
    Mapping host;                 ///< the array in host memory; of a fenced one, its image as it was sent
    std::byte* data = nullptr;
    std::size_t before = 0, after = 0;  ///< bytes of the guards that lie around the data
  };

  /// The whole image, guards included.
  static void place_image(Placed& placed, const Mapping& image);
  /// The data up to a page's end, between pages that kernels cannot touch. So they cannot write past the end
  /// and put the guard back. Of the guards there is what the pages around the data have room for.
  static void place_fenced(Placed& placed, Mapping image);
  /// The bytes of the array and no more; an output holds nothing. So the simulator knows where the array ends
  /// and what was never written.
  static void place_bare(Placed& placed, const Mapping& image);

  bool bare_;
  std::vector<Placed> arrays_;
};

}  // namespace course::grading
