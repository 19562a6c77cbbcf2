#include "grading/calls/channel_listener.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

namespace course::grading {
namespace {

Descriptor make_socket(int flags) {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!socket) fail_by_errno("cannot create a socket");
  return socket;
}

}  // namespace

ChannelListener::ChannelListener() : socket_(make_socket(SOCK_NONBLOCK)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An address of no length: the system chooses a name that is free, which begins with a zero byte.
  socklen_t length = sizeof(sa_family_t);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket_.get(), any, length) != 0 || listen(socket_.get(), 4) != 0)
    fail_by_errno("cannot name a socket");
  length = sizeof address;
  if (getsockname(socket_.get(), any, &length) != 0) fail_by_errno("cannot name a socket");
  name_.assign(address.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
}

std::optional<ChannelListener::Guest> ChannelListener::accept() {
  Descriptor guest(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!guest) return std::nullopt;
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(guest.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0 ||
      credentials.uid != geteuid())
    return std::nullopt;
  return Guest{Channel::with_patience(std::move(guest)), credentials.pid};
}

Channel connect_to_listener(const std::string& name) {
  Descriptor socket = make_socket(0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t letters = std::min(name.size(), sizeof address.sun_path - 1);
  std::copy_n(name.begin(), letters, address.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + letters);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0)
    fail_by_errno("cannot reach the grader");
  return Channel::with_patience(std::move(socket));
}

}  // namespace course::grading
