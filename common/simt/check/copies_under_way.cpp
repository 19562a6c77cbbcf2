#include "simt/check/copies_under_way.hpp"

#include <algorithm>

namespace simt::check {

void CopiesUnderWay::issue(unsigned thread, std::uint64_t bytes) {
  threads_.resize(thread_count_);
  Thread& sender = threads_[thread];
  sender.sends = true;
  sender.bytes += bytes;
  sender.copies.push_back({bytes, phase_});
  in_phase_ += bytes;
}

void CopiesUnderWay::land(unsigned thread) {
  if (threads_.empty() || threads_[thread].copies.empty()) return;
  Thread& sender = threads_[thread];
  const Copy copy = sender.copies.front();
  sender.copies.pop_front();
  sender.bytes -= copy.bytes;
  oldest_ = std::max(oldest_, copy.phase);
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
