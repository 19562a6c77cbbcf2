#include "simt/runtime/host_first.hpp"

#include <algorithm>
#include <utility>

#include "simt/runtime/context.hpp"
#include "simt/runtime/memory.hpp"

namespace simt {

void HostFirst::begin(HostFirstRules rules) {
  *this = HostFirst();
  rules_ = std::move(rules);
  state_ = State::puts_off;
}

void HostFirst::do_or_put_off(std::function<void()> work, bool shows) {
  if (!puts_off()) return work();
  put_off_host_stores();
  work_.push_back(std::move(work));
  looked_ = looked_ && !shows;
}

void HostFirst::end() {
  if (!puts_off()) return;
  put_off_host_stores();
  state_ = State::catches_up;
  device_memory().restore_given_up();
  for (const std::function<void()>& work : work_) work();
  work_.clear();
  shared_.clear();
  state_ = State::off;
}

void HostFirst::drop() {
  work_.clear();
  shared_.clear();
}

bool HostFirst::tell(std::span<std::byte> to, const std::function<void(std::byte*)>& find) {
  if (!puts_off()) return false;
  asked_bytes_ += to.size();
  if (asked_bytes_ > rules_.most_bytes) {
    end();
    return false;
  }
  if (asked_ < rules_.answers.size()) {
    const std::vector<std::byte>& answer = rules_.answers[asked_++];
    std::ranges::fill(to, std::byte{0});  // a host that asks for something else now learns no more
    std::copy_n(answer.begin(), std::min(answer.size(), to.size()), to.begin());
    return true;
  }
  end();
  if (Context::get().sticky() != cudaSuccess) return false;
  std::vector<std::byte> found(to.size());
  find(found.data());
  rules_.tell(found);
  return false;
}

void HostFirst::share(void* begin, std::size_t bytes) {
  const bool known = std::ranges::find(shared_, begin, [](const Shared& memory) -> void* {
                       return memory.begin;
                     }) != shared_.end();
  if (!puts_off() || bytes == 0 || known) return;
  if (bytes > rules_.most_bytes) {
    asked_bytes_ += bytes;
    return end();
  }
  auto* const first = static_cast<std::byte*>(begin);
  const std::vector<std::byte> content(first, first + bytes);
  do_or_put_off([first, content] { std::ranges::copy(content, first); }, false);
  shared_.push_back({first, content});
}

void HostFirst::unshare(const void* begin) {
  std::erase_if(shared_, [begin](const Shared& memory) { return memory.begin == begin; });
}

void HostFirst::put_off_host_stores() {
  for (Shared& memory : shared_)
    for (std::size_t i = 0; i < memory.seen.size(); ++i) {
      if (memory.begin[i] == memory.seen[i]) continue;
      memory.seen[i] = memory.begin[i];
      work_.push_back([at = memory.begin + i, value = memory.seen[i]] { *at = value; });
    }
}

void HostFirst::let_host_look() {
  if (!puts_off() || shared_.empty() || std::exchange(looked_, true)) return;
  put_off_host_stores();
  std::size_t bytes = 0;
  for (const Shared& memory : shared_) bytes += memory.seen.size();
  std::vector<std::byte> content(bytes);
  const bool told = tell(content, [shared = shared_](std::byte* found) {
    for (const Shared& memory : shared) found = std::copy_n(memory.begin, memory.seen.size(), found);
  });
  if (!told) return;
  const std::byte* next = content.data();
  for (Shared& memory : shared_) {
    std::copy_n(next, memory.seen.size(), memory.seen.begin());
    std::ranges::copy(memory.seen, memory.begin);
    next += memory.seen.size();
  }
}

std::uint64_t HostFirst::take_asked() { return std::exchange(asked_bytes_, 0); }

}  // namespace simt
