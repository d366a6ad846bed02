// SPDX-License-Identifier: BSD-3-Clause
#include "interruption.hpp"

#include <csignal>

namespace quadrat::program {
namespace {

volatile std::sig_atomic_t pending = 0;

void remember(int number) {
  pending = number;
  // From now on the same signals do what they do to any program.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

interruption::interruption() {
  pending = 0;
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
}

interruption::~interruption() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int interruption::signal() const { return pending; }

}  // namespace quadrat::program
