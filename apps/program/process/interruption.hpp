// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::program {

/// From now on Ctrl-C (SIGINT), SIGTERM and SIGHUP end the program at once, whatever it is computing: temporary files
/// are removed, one line on stderr says so, and the exit status is 128 + the signal's number. Signals that are ignored
/// at the start (nohup, jobs in the background) stay ignored. Call it once, before any other thread is started.
void listen_for_signals();

/// While it lives, the first of these signals only asks to stop; a second one ends the program at once.
class interruption {
 public:
  interruption();
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  /// The number of the signal that asked to stop, or 0.
  [[nodiscard]] int signal() const;

  /// The same; from now on signals end the program at once again.
  [[nodiscard]] int end();
};

/// The signal that has asked to stop, or 0: for ranks of a run, each of which may hear one.
[[nodiscard]] int asked_to_stop();
/// As if that signal had come, which another rank has heard; nothing for 0, or where signals do not ask.
void ask_to_stop(int signal);

}  // namespace quadrat::program
