#include "grading/calls/fork_server.hpp"

#include <poll.h>
#include <signal.h>

#include <chrono>
#include <string>

#include "grading/calls/protocol.hpp"

namespace course::grading {
namespace {

constexpr auto kLongestEnd = std::chrono::seconds(5);  // of a worker that is killed, on a busy machine

}  // namespace

ForkServer::ForkServer(const std::filesystem::path& program, const Confinement& confinement)
    : server_(program, false, &confinement), memory_bytes_(confinement.memory_bytes) {}

void ForkServer::fork_worker(const Channel& channel, const Descriptor& output) {
  server_.channel().send(kForkRequest, {channel.fd(), output.get()});  // its end is noticed by who waits
}

std::optional<int> ForkServer::take_status() {
  pollfd event{fd(), POLLIN, 0};
  if (fd() >= 0 && poll(&event, 1, 0) <= 0) return std::nullopt;
  if (const auto message = fd() >= 0 ? server_.channel().receive(false) : std::nullopt)
    return std::stoi(message->text);
  server_.stop();
  return SIGKILL;
}

int ForkServer::kill_worker() {
  server_.channel().send(kKillRequest);
  pollfd event{fd(), POLLIN, 0};
  poll(&event, 1, static_cast<int>(std::chrono::milliseconds(kLongestEnd).count()));
  if (const auto status = take_status()) return *status;
  server_.stop();
  return SIGKILL;
}

}  // namespace course::grading
