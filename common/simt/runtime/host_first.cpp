#include "simt/runtime/host_first.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "simt/runtime/context.hpp"
#include "simt/runtime/memory.hpp"

namespace simt {
namespace {

/// That nothing has changed is a bit.
std::uint64_t bits_told(const std::vector<std::byte>& answer) {
  return answer.empty() ? 1 : 8 * answer.size();
}

}  // namespace

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
  // What launches have got is kept: its destructors are host code, for which it is too late now.
  static auto* const kept = new std::deque<std::function<void()>>;
  std::ranges::move(work_, std::back_inserter(*kept));
  work_.clear();
  shared_.clear();
  state_ = State::off;
}

void HostFirst::drop() {
  shared_.clear();
  std::exchange(work_, {}).clear();  // the destructors of what launches have got may come back here
}

/// Whether the host may be told so much more. If not, the work is put off no longer.
bool HostFirst::may_tell(std::uint64_t bits) {
  asked_bits_ += bits;
  if (asked_bits_ <= rules_.most_bits) return true;
  end();
  return false;
}

bool HostFirst::may_tell_bytes(std::size_t bytes) {
  constexpr std::size_t kFar = std::numeric_limits<std::uint32_t>::max();  // beyond all that may be told
  return may_tell(8 * std::uint64_t{std::min(bytes, kFar)});
}

bool HostFirst::find_out() noexcept {
  end();
  return Context::get().sticky() == cudaSuccess;
}

void HostFirst::answer(const std::vector<std::byte>* found) noexcept {
  Context::get().abandon_queues();
  rules_.tell(found);
}

std::optional<std::vector<std::byte>> HostFirst::next_answer() {
  if (asked_ == rules_.answers.size()) return {};
  return rules_.answers[asked_++];
}

bool HostFirst::tell(std::span<std::byte> to, const std::function<void(std::byte*)>& find) {
  if (!puts_off() || !may_tell_bytes(to.size())) return false;
  if (const auto answer = next_answer()) {
    std::ranges::fill(to, std::byte{0});  // a host that asks for something else now learns no more
    std::copy_n(answer->begin(), std::min(answer->size(), to.size()), to.begin());
    return true;
  }
  if (!find_out()) {
    answer(nullptr);
    return false;
  }
  std::vector<std::byte> found(to.size());
  find(found.data());
  answer(&found);
  return false;
}

void HostFirst::share(void* begin, std::size_t bytes) {
  std::size_t bytes_shared = bytes;
  const bool known = std::ranges::find(shared_, begin, [](const Shared& memory) -> void* {
                       return memory.begin;
                     }) != shared_.end();
  if (!puts_off() || bytes == 0 || known) return;
  for (const Shared& memory : shared_) bytes_shared += memory.seen.size();
  if (bytes_shared > kMostShared) {
    asked_bits_ += 8 * bytes_shared;
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
  if (const auto answer = next_answer()) {
    if (may_tell(bits_told(*answer))) take_over(*answer);
    return;
  }
  const std::vector<Shared> as_host_left_it = shared_;
  if (!find_out()) return answer(nullptr);
  const std::vector<std::byte> changes = changes_since(as_host_left_it);
  asked_bits_ += bits_told(changes);
  if (asked_bits_ <= rules_.most_bits) answer(&changes);
}

std::vector<std::byte> HostFirst::changes_since(const std::vector<Shared>& before) {
  std::vector<std::byte> changes;
  std::size_t place = 0;
  for (const Shared& memory : before) {
    for (std::size_t i = 0; i < memory.seen.size();) {
      std::size_t length = 0;
      while (length < std::min(kLongestRun, memory.seen.size() - i) &&
             memory.begin[i + length] != memory.seen[i + length])
        ++length;
      if (length > 0) {
        for (std::size_t byte = 0; byte < kPlaceBytes; ++byte)
          changes.push_back(static_cast<std::byte>((place + i) >> (8 * byte)));
        changes.push_back(static_cast<std::byte>(length));
        changes.insert(changes.end(), memory.begin + i, memory.begin + i + length);
      }
      i += std::max<std::size_t>(length, 1);
    }
    place += memory.seen.size();
  }
  return changes;
}

void HostFirst::take_over(std::span<const std::byte> changes) {
  while (changes.size() > kPlaceBytes + kLengthBytes) {
    std::size_t place = 0;
    for (std::size_t byte = 0; byte < kPlaceBytes; ++byte)
      place |= std::to_integer<std::size_t>(changes[byte]) << (8 * byte);
    const auto length = std::to_integer<std::size_t>(changes[kPlaceBytes]);
    changes = changes.subspan(kPlaceBytes + kLengthBytes);
    const auto run = changes.first(std::min(length, changes.size()));
    for (Shared& memory : shared_) {
      if (place < memory.seen.size()) {
        const std::size_t room = std::min(run.size(), memory.seen.size() - place);
        std::copy_n(run.begin(), room, memory.begin + place);
        std::copy_n(run.begin(), room, memory.seen.begin() + static_cast<std::ptrdiff_t>(place));
        break;
      }
      place -= memory.seen.size();
    }
    changes = changes.subspan(run.size());
  }
}

std::uint64_t HostFirst::take_asked() { return (std::exchange(asked_bits_, 0) + 7) / 8; }

}  // namespace simt
