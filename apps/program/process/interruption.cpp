// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/interruption.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "program/process/rank_of_several.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::program {
namespace {

constexpr int heard[] = {SIGINT, SIGTERM, SIGHUP};

/// Signals within this time are one request: `timeout` signals the program and then its group.
constexpr auto same_request = std::chrono::milliseconds(250);
/// After this time, the user is told that the program is still waiting.
constexpr timespec patience{1, 0};

/// The last signal, for the listening thread. No other thread takes these signals.
volatile std::sig_atomic_t signal_that_came = 0;
void remember(int number) { signal_that_came = number; }

/// Whether signals only request a stop, and which signal has done so.
struct {
  std::mutex mutex;
  bool deferring = false;
  int asked = 0;
} requests;

/// Treats the signal as a request to stop, if that is possible now.
bool ask(int number) {
  const std::lock_guard lock(requests.mutex);
  if (requests.deferring) requests.asked = number;
  return requests.deferring;
}

const char* name_of_signal(int number) {
  return number == SIGINT ? "Ctrl-C" : number == SIGTERM ? "SIGTERM" : "SIGHUP";
}

std::atomic<bool> has_spoken{false};

/// Prints a line on stderr, in place of the progress bar.
void say(const char* before, const char* name, const char* after) {
  if (!speaks() || has_spoken) return;
  std::fprintf(stderr, "%squadrat: %s%s%s\n", ::isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "", before, name, after);
}

std::atomic<int> last_status{0};
static_assert(std::atomic<int>::is_always_lock_free);
void end_now(int) { ::_exit(last_status); }

/// Ends the process without destructors, because other threads are still running.
[[noreturn]] void leave(int number) {
  // A pipe that nobody reads, or a file system that does not answer, must not block the end of the program.
  last_status = 128 + number;
  std::signal(SIGALRM, end_now);
  const itimerval half_a_second{{0, 0}, {0, 500000}};
  ::setitimer(ITIMER_REAL, &half_a_second, nullptr);
  io::remove_temporary_files();
  // Lets a printing thread finish, so that no line or JSON object is cut; then nobody prints any more.
  ::flockfile(stdout);
  std::fflush(stdout);
  say("stopped by ", name_of_signal(number),
      io::has_written() ? "; files that had been written before are whole" : "; nothing was written");
  ::_exit(last_status);
}

void say_what_is_under_way(int number) {
  const std::lock_guard lock(requests.mutex);
  if (!requests.deferring) return;
  say("stopping after this step, then a checkpoint is written; ", name_of_signal(number), " once more stops at once");
}

/// Waits for signals until the program ends. They are blocked except during the wait.
void listen(const sigset_t& while_waiting) {
  using clock = std::chrono::steady_clock;
  std::optional<clock::time_point> asked;
  bool told = false;
  int number = 0;
  for (;;) {
    signal_that_came = 0;
    const int result = ::ppoll(nullptr, 0, asked && !told ? &patience : nullptr, &while_waiting);
    if (result == 0) {
      told = true;
      say_what_is_under_way(number);
    }
    if (signal_that_came == 0) continue;
    number = signal_that_came;
    if (asked && clock::now() - *asked < same_request) continue;
    if (asked || !ask(number)) leave(number);
    asked = clock::now();
  }
}

}  // namespace

void end_without_words() { has_spoken = true; }

void listen_for_signals() {
  sigset_t mine, before;
  sigemptyset(&mine);
  for (const int number : heard) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    sigaddset(&mine, number);
  }
  // Threads inherit the mask of blocked signals, so only the listening thread takes these signals. A handler instead of
  // sigwait lets debuggers see the signals first.
  ::pthread_sigmask(SIG_BLOCK, &mine, &before);
  try {
    std::thread(listen, before).detach();
  } catch (const std::system_error&) {
    // If no further thread can be created, signals have their default effect.
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  for (const int number : heard) {
    if (sigismember(&mine, number) == 1) std::signal(number, remember);
  }
}

int asked_to_stop() {
  const std::lock_guard lock(requests.mutex);
  return requests.asked;
}

void ask_to_stop(int signal) {
  const std::lock_guard lock(requests.mutex);
  if (requests.deferring && requests.asked == 0) requests.asked = signal;
}

interruption::interruption() {
  const std::lock_guard lock(requests.mutex);
  requests.deferring = true;
  requests.asked = 0;
}

interruption::~interruption() { static_cast<void>(end()); }

int interruption::signal() const {
  const std::lock_guard lock(requests.mutex);
  return requests.asked;
}

int interruption::end() {
  const std::lock_guard lock(requests.mutex);
  requests.deferring = false;
  return requests.asked;
}

}  // namespace quadrat::program
