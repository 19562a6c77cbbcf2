// simt-rewrite-fuzz [--seconds N] [--seed S] [--json FILE]: feeds random CUDA code to the rewriter. The build
// decides on sanitizers: configure with -DCOURSE_SANITIZE=address,undefined to have them.
// A third of the inputs are correct code with a known translation, the others are such code with mutations.
// Each finding is printed with its input's own seed; `--seed S --seconds 0` repeats that one. Exit status 1
// if there is any.

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include "generator.hpp"
#include "properties.hpp"

namespace {

using simt::fuzz::Random;

#ifdef __clang__
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

volatile std::uint64_t current_seed = 0;

/// A crash or a hang: names the input on the way out.
void report_signal(int signal) {
  char text[96];
  const int length = std::snprintf(text, sizeof(text), "signal %d on the input of --seed %llu\n", signal,
                                   static_cast<unsigned long long>(current_seed));
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) _exit(3);
  _exit(2);
}

std::string broken(std::uint64_t seed, std::string& input) {
  Random random(seed);
  const simt::fuzz::Sample sample = simt::fuzz::generate(random);
  input = sample.source;
  if (random.one_in(3)) {
    std::string found = simt::fuzz::broken_translation(input, sample.expected);
    return found.empty() ? simt::fuzz::broken_property(input) : found;
  }
  input = simt::fuzz::mutate(std::move(input), random);
  return simt::fuzz::broken_property(input);
}

/// The processor's name as Linux gives it; empty elsewhere.
std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "";
}

bool write_json(const char* path, std::uint64_t seed, double seconds, unsigned long long executions,
                unsigned long long findings) {
  char date[16];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
#ifdef __SANITIZE_ADDRESS__
  const char* sanitizers = "address, undefined";
#else
  const char* sanitizers = "none";
#endif
  std::ofstream out(path);
  out << "{\n  \"command\": \"simt-rewrite-fuzz --seconds " << std::lround(seconds) << " --seed " << seed
      << "\",\n  \"date\": \"" << date << "\",\n  \"seconds\": " << std::lround(seconds)
      << ",\n  \"executions\": " << executions << ",\n  \"findings\": " << findings
      << ",\n  \"sanitizers\": \"" << sanitizers << "\",\n  \"cpu\": \"" << cpu_name()
      << "\",\n  \"compiler\": \"" << kCompiler << "\"\n}\n";
  return out.flush().good();
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 5;
  std::uint64_t seed = 1;
  const char* json = nullptr;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc || (option != "--seconds" && option != "--seed" && option != "--json")) {
      std::fputs("usage: simt-rewrite-fuzz [--seconds N] [--seed S] [--json FILE]\n", stderr);
      return 2;
    }
    if (option == "--seconds") seconds = std::strtod(argv[i + 1], nullptr);
    if (option == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--json") json = argv[i + 1];
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGPROF}) std::signal(signal, report_signal);

  constexpr itimerval kHang{{}, {20, 0}};  // of a processor
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  unsigned long long executions = 0, findings = 0;
  Random seeds(seed);
  current_seed = seed;
  do {
    if (executions % 256 == 0) setitimer(ITIMER_PROF, &kHang, nullptr);
    std::string input;
    const std::string found = broken(current_seed, input);
    ++executions;
    if (!found.empty() && ++findings <= 10)
      std::printf("--seed %llu: %s\n--- input\n%s\n---\n", static_cast<unsigned long long>(current_seed),
                  found.c_str(), input.c_str());
    current_seed = seeds.bits();
  } while (elapsed() < seconds);
  std::printf("%llu executions in %.1f s, %llu findings\n", executions, elapsed(), findings);
  if (json != nullptr && !write_json(json, seed, elapsed(), executions, findings)) {
    std::fprintf(stderr, "cannot write %s\n", json);
    return 2;
  }
  return findings == 0 ? 0 : 1;
}
