#include "simt/runtime/launch.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "simt/check/checker.hpp"
#include "simt/runtime/block.hpp"
#include "simt/runtime/host_libraries.hpp"
#include "simt/runtime/shared_memory.hpp"
#include "simt/runtime/stored_variables.hpp"
#include "simt/shim/cuda_runtime_api.h"

namespace simt {
namespace {

using Clock = std::chrono::steady_clock;
__extension__ typedef unsigned __int128 Wide;  // a product of two 64-bit numbers

/// The blocks of a grid in the order in which they start.
class BlockOrder {
 public:
  BlockOrder(std::uint64_t count, Order order, std::uint64_t seed) : count_(count), order_(order) {
    // Random: i -> (a*i + b) mod count visits each block once if a and count have no common factor.
    step_ = seed * 2654435761u % count | 1u;
    while (std::gcd(step_, count_) != 1) ++step_;
    shift_ = seed % count;
  }
  std::uint64_t block(std::uint64_t turn) const {
    switch (order_) {
      case Order::forward:
        return turn;
      case Order::reverse:
        return count_ - 1 - turn;
      case Order::random:
        break;
    }
    return static_cast<std::uint64_t>((Wide{step_} * turn + shift_) % count_);
  }

 private:
  std::uint64_t count_, step_ = 1, shift_ = 0;
  Order order_;
};

/// One launch while it runs: threads draw turns from it until none is left.
struct RunningLaunch {
  RunningLaunch(const Launch& launch, const Settings& settings)
      : block_count(std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z),
        order(block_count, settings.order, settings.seed),
        leaves_nothing((settings.keeps_apart || settings.check) && !launch.comes_last),
        closes_libraries(settings.keeps_apart),
        watches_variables(settings.keeps_apart && !settings.check) {
    context.grid = launch.grid;
    context.block = launch.block;
    context.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    context.module = &kernel_module(reinterpret_cast<const void*>(launch.invoke));
    context.invoke = launch.invoke;
    context.arguments = launch.arguments;
    context.order = settings.order;
    context.cooperative = launch.cooperative;
    context.seed = settings.seed;
    if (closes_libraries) host_libraries().close(*context.module);
    if (watches_variables) stored_variables().watch(*context.module);
  }
  ~RunningLaunch() {
    if (watches_variables) stored_variables().count();
    if (closes_libraries) stored_variables().add(host_libraries().open());
  }
  RunningLaunch(const RunningLaunch&) = delete;
  RunningLaunch& operator=(const RunningLaunch&) = delete;

  LaunchContext context;
  std::uint64_t block_count;
  BlockOrder order;
  bool leaves_nothing;     ///< where host code could read it
  bool closes_libraries;   ///< to kernels
  bool watches_variables;  ///< to count those that kernels change; check mode sees their stores
  std::atomic<std::uint64_t> next_turn{0};
  std::mutex mutex;
  std::uint64_t fault_block = ~std::uint64_t{0};  ///< lowest block with a fault
  RawFault fault;

  void take_turns(BlockRunner& runner) {
    std::optional<KeptThreadLocals> kept;
    for (;;) {
      const std::uint64_t turn = next_turn.fetch_add(1, std::memory_order_relaxed);
      if (turn >= block_count) break;
      if (leaves_nothing && !kept) kept.emplace(*context.module);
      const std::uint64_t number = order.block(turn);
      if (runner.run(context, index_of(number), number) != BlockRunner::Progress::faulted) continue;
      note_fault(runner, number);
      next_turn.store(block_count, std::memory_order_relaxed);  // nobody starts another block
    }
    if (kept) runner.wipe();
  }
  uint3 index_of(std::uint64_t number) const {
    const dim3 grid = context.grid;
    return make_uint3(static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
                      static_cast<unsigned>(number / grid.x / grid.y));
  }
  void note_fault(const BlockRunner& runner, std::uint64_t number) {
    const std::lock_guard lock(mutex);
    if (number < fault_block) fault_block = number, fault = runner.fault();
  }
};

/// The blocks of a cooperative launch take turns on the calling thread: each runs until it ends, waits for
/// the others or gives way to them. They need no more threads of the operating system, which a process may be
/// forbidden to start.
class TurnsOfBlocks {
 public:
  TurnsOfBlocks(RunningLaunch& launch, check::Checker* checker, void* dynamic_shared)
      : launch_(launch), checker_(checker), dynamic_shared_(dynamic_shared) {}

  /// Until all blocks have ended, or one has faulted.
  void take() {
    std::optional<KeptThreadLocals> kept;
    if (launch_.leaves_nothing) kept.emplace(*launch_.context.module);
    bool good = true;
    for (std::uint64_t turn = 0; good && turn < launch_.block_count; ++turn)
      good = begin(launch_.order.block(turn));
    while (good && !begun_.empty()) good = go_on();
    for (const Begun& block : begun_) block.runner->abandon();
    for (std::size_t i = 0; i < runners_used_; ++i) {
      runners()[i]->observe(nullptr);
      if (kept) runners()[i]->wipe();
    }
  }

 private:
  using Progress = BlockRunner::Progress;
  /// A block that has not ended.
  struct Begun {
    std::uint64_t number;
    BlockRunner* runner;
    Progress progress;
  };

  /// The calling thread's, kept for its next such launch.
  static std::vector<std::unique_ptr<BlockRunner>>& runners() {
    thread_local auto* const runners = new std::vector<std::unique_ptr<BlockRunner>>;
    return *runners;
  }
  /// That of a block which has ended, if there is one.
  BlockRunner& idle_runner() {
    if (idle_.empty()) {
      if (runners_used_ == runners().size())
        runners().push_back(std::make_unique<BlockRunner>(dynamic_shared_));
      idle_.push_back(runners()[runners_used_++].get());
      idle_.back()->observe(checker_);
    }
    BlockRunner& runner = *idle_.back();
    idle_.pop_back();
    return runner;
  }
  /// False if the block faulted.
  bool begin(std::uint64_t number) {
    BlockRunner& runner = idle_runner();
    begun_.push_back({number, &runner, runner.run(launch_.context, launch_.index_of(number), number)});
    return look_at_begun();
  }
  /// A turn for each block that has something to do.
  bool go_on() {
    const bool all_wait = std::ranges::all_of(
        begun_, [](const Begun& block) { return block.progress == Progress::waits_for_grid; });
    launch_.context.block_left = begun_.size() < launch_.block_count;
    if (all_wait && checker_ != nullptr && !launch_.context.block_left) checker_->grid_opens();
    for (Begun& block : begun_) {
      if (block.progress == Progress::waits_for_grid && !all_wait) continue;
      block.progress = block.runner->go_on();
      if (block.progress == Progress::faulted) break;
    }
    return look_at_begun();
  }
  bool look_at_begun() {
    bool good = true;
    std::erase_if(begun_, [&](const Begun& block) {
      if (block.progress == Progress::faulted) launch_.note_fault(*block.runner, block.number), good = false;
      if (block.progress == Progress::ended) idle_.push_back(block.runner);
      return block.progress == Progress::ended || block.progress == Progress::faulted;
    });
    return good;
  }

  RunningLaunch& launch_;
  check::Checker* checker_;  ///< null: nobody watches
  void* dynamic_shared_;
  std::vector<Begun> begun_;
  std::vector<BlockRunner*> idle_;
  std::size_t runners_used_ = 0;
};

Clock::duration to_duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// What a thread has used of a processor.
double processor_seconds(pthread_t thread) {
  clockid_t clock{};
  timespec time{};
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The thread that stops launches which run too long: once a thread has had the processor for as many seconds
/// as the launch may take, or all together have had all processors for so long; or once all have slept for
/// kMostAsleep times as long, since what they wait for never comes. A launch that other programs keep from
/// the processors is given time: it still gets a share of them. The watchdog asks the threads at work to
/// stop, by a flag that the runtime sees and by a signal that reaches a loop without any call, again and
/// again until they have.
class Watchdog {
 public:
  Watchdog() : thread_([this] { watch(); }) { thread_.detach(); }

  void start(LaunchContext& launch, double seconds, std::vector<pthread_t> threads) {
    const std::lock_guard lock(mutex_);
    launch_ = &launch;
    threads_ = std::move(threads);
    seconds_ = seconds;
    used_before_.clear();
    for (const pthread_t thread : threads_) used_before_.push_back(processor_seconds(thread));
    awake_ = Clock::now();
    used_awake_ = 0;
    next_look_ = awake_ + to_duration(seconds);
    changed_.notify_one();
  }
  void stop() {
    const std::lock_guard lock(mutex_);  // once this returns, no signal is sent for that launch any more
    launch_ = nullptr;
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const Clock::time_point now = Clock::now();
      if (launch_ == nullptr) {
        changed_.wait(lock);
      } else if (now < next_look_) {
        changed_.wait_until(lock, next_look_);
      } else if (launch_->stop || !may_go_on(now)) {
        launch_->stop = true;
        for (const pthread_t thread : threads_) pthread_kill(thread, watchdog_signal());
        next_look_ = now + kLookAgain;
      }
    }
  }

  /// If so, says when to look again.
  bool may_go_on(Clock::time_point now) {
    double most = 0, all = 0;  // seconds of processors that the launch's threads have had
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const double used = processor_seconds(threads_[i]) - used_before_[i];
      most = std::max(most, used);
      all += used;
    }
    most = std::max(most, all / std::max(1u, std::thread::hardware_concurrency()));
    const double since_awake = std::chrono::duration<double>(now - awake_).count();
    const bool asleep = all - used_awake_ < kLeastShare * since_awake;
    if (!asleep) awake_ = now, used_awake_ = all;
    if (most >= seconds_ || (asleep && since_awake >= kMostAsleep * seconds_)) return false;
    next_look_ = now + std::max(to_duration(seconds_ - most), kLookAgain);
    return true;
  }

  static constexpr double kLeastShare = 0.01;  // of a processor; with less, a launch is asleep
  static constexpr double kMostAsleep = 4;
  static constexpr Clock::duration kLookAgain = std::chrono::milliseconds(20);

  std::mutex mutex_;
  std::condition_variable changed_;
  LaunchContext* launch_ = nullptr;
  std::vector<pthread_t> threads_;
  double seconds_ = 0;               // that a launch may take
  std::vector<double> used_before_;  // by thread
  Clock::time_point next_look_, awake_;
  double used_awake_ = 0;  // by all threads, at awake_
  std::thread thread_;     // last: it uses all of the above
};

/// The operating-system threads beside the calling one. They live as long as the process.
class Pool {
 public:
  explicit Pool(unsigned helpers) {
    for (unsigned i = 0; i < helpers; ++i) {
      std::thread thread([this] { work(); });
      handles_.push_back(thread.native_handle());
      thread.detach();
    }
  }
  const std::vector<pthread_t>& handles() const { return handles_; }

  /// Runs the launch on `helpers` pool threads and on the calling one.
  void run(RunningLaunch& launch, BlockRunner& own_runner, unsigned helpers) {
    {
      const std::lock_guard lock(mutex_);
      launch_ = &launch;
      wanted_ = busy_ = helpers;
    }
    wake_.notify_all();
    launch.take_turns(own_runner);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    launch_ = nullptr;
  }

 private:
  void work() {
    install_signal_stack();
    BlockRunner runner(allocate_dynamic_shared());
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return wanted_ > 0; });
      --wanted_;
      RunningLaunch& launch = *launch_;
      lock.unlock();
      launch.take_turns(runner);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  RunningLaunch* launch_ = nullptr;
  unsigned wanted_ = 0, busy_ = 0;
  std::vector<pthread_t> handles_;
};

unsigned worker_count(const Settings& settings) {
  constexpr unsigned kMost = 16;  // each may need two memory mappings for each of its 1024 stacks
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return std::min(settings.workers != 0 ? settings.workers : cores, kMost);
}

/// A GPU has no error number that its functions of mathematics could leave to the host.
class KeptError {
 public:
  KeptError() = default;
  ~KeptError() { errno = before_; }
  KeptError(const KeptError&) = delete;
  KeptError& operator=(const KeptError&) = delete;

 private:
  int before_ = errno;
};

/// Nothing of a kernel is left in registers, where host code could find it.
class ClearedRegisters {
 public:
  ClearedRegisters() = default;
  ~ClearedRegisters() { clear_registers(); }
  ClearedRegisters(const ClearedRegisters&) = delete;
  ClearedRegisters& operator=(const ClearedRegisters&) = delete;
};

/// What the threads have launched: block by block, as the blocks are ordered, each in its own order; what is
/// to come last is last.
std::vector<NestedLaunch> take_nested(RunningLaunch& running, Order order) {
  std::vector<NestedLaunch>& launches = running.context.nested;
  std::stable_sort(launches.begin(), launches.end(), [&](const NestedLaunch& a, const NestedLaunch& b) {
    const bool a_is_tail = a.request.stream == cudaStreamTailLaunch;
    const bool b_is_tail = b.request.stream == cudaStreamTailLaunch;
    if (a_is_tail != b_is_tail) return b_is_tail;
    return order == Order::reverse ? a.block > b.block : a.block < b.block;
  });
  return std::move(launches);
}

/// The whole grid on this thread, block after block, under the eyes of check mode.
RawFault run_checked(const Launch& launch, const Settings& settings, Watchdog& watchdog, BlockRunner& runner,
                     std::vector<NestedLaunch>& nested) {
  Settings fixed = settings;
  fixed.order = Order::forward;
  RunningLaunch running(launch, fixed);
  check::Checker& checker = check::Checker::get();
  checker.begin_launch(launch, running.context, runner.dynamic_shared());
  watchdog.start(running.context, settings.launch_seconds, {pthread_self()});
  runner.observe(&checker);
  running.take_turns(runner);
  runner.observe(nullptr);
  watchdog.stop();
  checker.end_launch();
  nested = take_nested(running, fixed.order);
  return running.fault;
}

/// The blocks of a cooperative launch, on this thread.
RawFault run_cooperative(const Launch& launch, const Settings& settings, Watchdog& watchdog,
                         BlockRunner& own_runner, std::vector<NestedLaunch>& nested) {
  check::Checker* const checker = settings.check ? &check::Checker::get() : nullptr;
  Settings fixed = settings;
  if (checker != nullptr) fixed.order = Order::forward;
  RunningLaunch running(launch, fixed);
  if (checker != nullptr) checker->begin_launch(launch, running.context, own_runner.dynamic_shared());
  watchdog.start(running.context, settings.launch_seconds, {pthread_self()});
  TurnsOfBlocks(running, checker, own_runner.dynamic_shared()).take();
  watchdog.stop();
  if (checker != nullptr) checker->end_launch();
  nested = take_nested(running, fixed.order);
  return running.fault;
}

Watchdog& the_watchdog() {
  static Watchdog* const watchdog = new Watchdog;
  return *watchdog;
}

Pool& the_pool() {
  static Pool* const pool = new Pool(worker_count({}) - 1);
  return *pool;
}

}  // namespace

void start_threads() { (void)the_watchdog(); }

RawFault run_launch(const Launch& launch, const Settings& settings, std::vector<NestedLaunch>& nested) {
  const FaultHandlers handlers;
  const KeptError error;
  const ClearedRegisters cleared;
  install_signal_stack();
  Watchdog& watchdog = the_watchdog();
  thread_local BlockRunner* const own_runner = new BlockRunner(allocate_dynamic_shared());

  if (launch.cooperative) return run_cooperative(launch, settings, watchdog, *own_runner, nested);
  if (settings.check) return run_checked(launch, settings, watchdog, *own_runner, nested);
  RunningLaunch running(launch, settings);
  Pool* const pool = worker_count(settings) > 1 ? &the_pool() : nullptr;
  std::vector<pthread_t> threads = pool != nullptr ? pool->handles() : std::vector<pthread_t>{};
  const auto helpers = static_cast<unsigned>(
      std::min<std::uint64_t>({worker_count(settings) - 1, threads.size(), running.block_count - 1}));
  threads.push_back(pthread_self());
  watchdog.start(running.context, settings.launch_seconds, std::move(threads));
  if (pool != nullptr)
    pool->run(running, *own_runner, helpers);
  else
    running.take_turns(*own_runner);
  watchdog.stop();
  nested = take_nested(running, settings.order);
  return running.fault;
}

}  // namespace simt
