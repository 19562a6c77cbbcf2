#include "grading/calls/channel.hpp"

#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace course::grading {
namespace {

constexpr std::size_t kMaxDescriptors = 4;

void set_sender_wanted(int socket, int wanted) {
  setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &wanted, sizeof wanted);
}

/// Bytes received, or -1.
ssize_t receive_into(int socket, msghdr& header) {
  for (;;) {
    const ssize_t received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    if (received >= 0 || errno != EINTR) return received;
  }
}

}  // namespace

std::pair<Channel, Channel> Channel::create() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    fail_by_errno("cannot create a socket pair");
  return {with_patience(Descriptor(ends[0])), with_patience(Descriptor(ends[1]))};
}

Channel Channel::with_patience(Descriptor socket) {
  const timeval patience{5, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return Channel(std::move(socket));
}

bool Channel::send(std::string_view message, const std::vector<int>& descriptors) {
  if (message.empty() || message.size() > kMaxMessageBytes || descriptors.size() > kMaxDescriptors)
    return false;
  iovec part{const_cast<char*>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
  }
  for (;;) {
    const ssize_t sent = sendmsg(socket_.get(), &header, MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent) == message.size();
    if (errno != EINTR) return false;
  }
}

void Channel::ask_who_sends() { set_sender_wanted(socket_.get(), 1); }

std::optional<Channel::Greeting> Channel::receive_greeting() {
  Greeting greeting;
  greeting.text.resize(kMaxMessageBytes);
  iovec part{greeting.text.data(), greeting.text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t received = receive_into(socket_.get(), header);
  set_sender_wanted(socket_.get(), 0);
  if (received <= 0) return std::nullopt;
  greeting.text.resize(static_cast<std::size_t>(received));
  const cmsghdr* const sender = CMSG_FIRSTHDR(&header);
  if (sender && sender->cmsg_level == SOL_SOCKET && sender->cmsg_type == SCM_CREDENTIALS) {
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(sender), sizeof credentials);
    greeting.sender = credentials.pid;
  }
  return greeting;
}

std::optional<Channel::Message> Channel::receive(bool accept_descriptors) {
  Message message;
  message.text.resize(kMaxMessageBytes);
  iovec part{message.text.data(), message.text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  if (accept_descriptors) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  const ssize_t received = receive_into(socket_.get(), header);
  if (received <= 0) return std::nullopt;
  message.text.resize(static_cast<std::size_t>(received));
  for (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights; rights = CMSG_NXTHDR(&header, rights)) {
    if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(rights) + i * sizeof(int), sizeof(int));
      message.descriptors.emplace_back(fd);
    }
  }
  return message;
}

}  // namespace course::grading
