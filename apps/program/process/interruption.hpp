// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::program {

/// Makes Ctrl-C (SIGINT), SIGTERM and SIGHUP end the program at once, whatever it is computing. It removes temporary
/// files and prints a line on stderr; the exit status is 128 + the signal's number. Signals that are ignored at the
/// start (nohup, background jobs) stay ignored. Call it once, before any other thread is started.
void listen_for_signals();

/// The program has said why it fails: a signal that comes while it ends adds nothing. mpirun sends one to all processes
/// as soon as the first has ended.
void end_without_words();

/// During its lifetime, the first of these signals only requests a stop; a second one ends the program at once.
class interruption {
 public:
  interruption();
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  /// The number of the signal that requested a stop, or 0.
  [[nodiscard]] int signal() const;

  /// The same; afterwards signals end the program at once again.
  [[nodiscard]] int end();
};

/// The signal that has requested a stop, or 0. For the ranks of a run, any of which may receive one.
[[nodiscard]] int asked_to_stop();
/// Requests a stop, as if this rank had received the signal; another rank has. Does nothing for 0, or if signals do not
/// only request.
void ask_to_stop(int signal);

}  // namespace quadrat::program
