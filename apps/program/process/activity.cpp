// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/activity.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace quadrat::program {

activity::activity(bool on) {
  if (on && ::isatty(STDERR_FILENO) != 0) watcher_ = std::thread([this] { watch(); });
}

activity::~activity() { end(); }

void activity::begins(std::string what) {
  const std::lock_guard lock(mutex_);
  clear();
  what_ = std::move(what);
  since_ = clock::now();
}

void activity::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  if (watcher_.joinable()) watcher_.join();
}

void activity::watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return ended_; })) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - since_).count();
    if (seconds < 2 || what_.empty()) continue;
    std::fprintf(stderr, "\rquadrat: %s, %lld s\033[K", what_.c_str(), static_cast<long long>(seconds));
    std::fflush(stderr);
    shown_ = true;
  }
  clear();
}

void activity::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace quadrat::program
