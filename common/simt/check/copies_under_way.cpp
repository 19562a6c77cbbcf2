#include "simt/check/copies_under_way.hpp"

#include <algorithm>

namespace simt::check {

void CopiesUnderWay::issue(unsigned thread, std::uint64_t target, std::uint64_t bytes) {
  threads_.resize(thread_count_);
  Thread& sender = threads_[thread];
  sender.sends = true;
  if (bytes == 0) return;
  sender.bytes += bytes;
  sender.copies.push_back({target, bytes, phase_});
  in_phase_ += bytes;
}

void CopiesUnderWay::land(unsigned thread, std::uint64_t target) {
  if (threads_.empty()) return;
  Thread& sender = threads_[thread];
  const auto copy = std::ranges::find(sender.copies, target, &Copy::target);
  if (copy == sender.copies.end()) return;
  sender.bytes -= copy->bytes;
  oldest_ = std::max(oldest_, copy->phase);
  sender.copies.erase(copy);
}

void CopiesUnderWay::meet_at_barrier() {
  if (threads_.empty()) return;
  ahead_.of_shared_loads += accessed_.of_shared_loads * in_phase_ / thread_count_;
  ahead_.of_global_stores += accessed_.of_global_stores * in_phase_ / thread_count_;
  accessed_ = {};
  ++phase_;
  in_phase_ = 0;
  for (const Thread& thread : threads_)
    for (const Copy& copy : thread.copies)
      if (copy.phase >= oldest_) in_phase_ += copy.bytes;
}

}  // namespace simt::check
