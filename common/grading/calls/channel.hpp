#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grading/base/descriptor.hpp"

namespace course::grading {

/// Longest message; what is longer was not written by us.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{128} * 1024;

/// @brief One end of the socket between the grader and its worker. It keeps messages apart; control messages
/// are JSON, arrays travel as descriptors of shared memory.
class Channel {
 public:
  Channel() = default;
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  /// @brief Both ends of a new channel; neither survives an exec.
  /// @throws std::system_error if the system has no descriptors left.
  static std::pair<Channel, Channel> create();

  /// @brief One end of a connected socket, which gives up sending after 5 s.
  static Channel with_patience(Descriptor socket);

  int fd() const { return socket_.get(); }
  void close() { socket_.close(); }

  /// @brief Sends one message. False if the other end is gone or does not take it within 5 s. Never raises
  /// SIGPIPE.
  bool send(std::string_view message, const std::vector<int>& descriptors = {});

  struct Message {
    std::string text;
    std::vector<Descriptor> descriptors;
  };

  struct Greeting {
    std::string text;
    int sender = -1;  ///< process id of who sent it, as seen from here, in whatever namespace it is; the
                      ///< system vouches
  };
  /// @brief Lets receive_greeting() learn the sender. Call it before there is one.
  void ask_who_sends();
  /// @brief Takes the first message, and asks for no more senders. Nothing: the other end is gone.
  std::optional<Greeting> receive_greeting();

  /// @brief Waits for the next message. Nothing: the other end is gone.
  /// Descriptors are dropped unless accepted: the worker's side must not be able to fill the grader's table.
  std::optional<Message> receive(bool accept_descriptors);

 private:
  Descriptor socket_;
};

}  // namespace course::grading
