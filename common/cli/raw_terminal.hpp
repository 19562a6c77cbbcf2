#pragma once
/// @file
/// A terminal that hands over each key as it is pressed, and signals that wait to be read: what a command
/// that stays on the screen needs. Both are given back as they were found.

#include <termios.h>

#include <csignal>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "grading/base/descriptor.hpp"

namespace course::cli {

/// Keys without Enter and without an echo, for as long as the object lives. Ctrl-C, Ctrl-Z and Ctrl-\ stay
/// what they are. A terminal whose foreground belongs to another program is left alone.
class RawTerminal {
 public:
  /// @brief Takes the terminal, if the descriptor is one.
  explicit RawTerminal(int descriptor);
  ~RawTerminal() { give_back(); }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  /// @brief Takes the terminal as it is now, which is how it will be given back; one that is taken already
  /// is set up once more, since a shell may have changed it meanwhile.
  void take();

  /// @brief Puts the terminal back; nothing happens if it was not taken.
  void give_back();

  /// @brief Whether keys come.
  bool taken() const { return found_.has_value(); }

  /// @brief The keys that were pressed, without waiting: printable ASCII and control characters. What
  /// function keys and other alphabets send is left out. Nothing if the terminal has gone, which gives it up.
  std::string read_keys();

 private:
  int descriptor_;
  std::optional<termios> found_;
};

/// @brief Whether the terminal is ours to draw on. One that no shell manages is everybody's.
bool in_foreground(int terminal);

/// @brief The bytes that are keys by themselves: without escape sequences and without characters beyond
/// ASCII.
std::string plain_keys(std::string_view bytes);

/// Signals that wait to be read rather than interrupt, for as long as the object lives. They do not reach
/// other threads either, as long as those are started later.
class SignalInbox {
 public:
  SignalInbox(std::initializer_list<int> numbers);
  ~SignalInbox();
  SignalInbox(const SignalInbox&) = delete;
  SignalInbox& operator=(const SignalInbox&) = delete;

  /// @brief Becomes readable when a signal has come.
  int descriptor() const { return descriptor_.get(); }

  /// @brief The next signal, without waiting; nothing if none has come.
  std::optional<int> next();

 private:
  grading::Descriptor descriptor_;
  sigset_t before_{};
};

/// @brief Does what SIGTSTP does to a program that does not mind it: stops until somebody says to go on.
/// The signal may be blocked.
void stop_here();

}  // namespace course::cli
