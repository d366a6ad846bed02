// SPDX-License-Identifier: BSD-3-Clause
#include "harness/session.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>

namespace quadrat::bench {

namespace {

/// Whether the error means that a row is not possible here, rather than wrong.
bool means_no_place(const std::exception& problem) {
  return dynamic_cast<const overflow_error*>(&problem) != nullptr ||
         dynamic_cast<const argument_error*>(&problem) != nullptr ||
         dynamic_cast<const std::bad_alloc*>(&problem) != nullptr ||
         std::string_view(problem.what()).find("out of memory") != std::string_view::npos;
}

}  // namespace

bool session::wants_method(std::string_view name) const {
  return asked_.methods.empty() || std::ranges::find(asked_.methods, name) != asked_.methods.end();
}

timing_plan session::plan() const {
  timing_plan plan;
  if (!full()) {
    plan.least = 5;
    plan.seconds = 0.02;
  }
  return plan;
}

bool session::time_is_up() const {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  return asked_.limit_s > 0 && spent.count() > asked_.limit_s;
}

void session::attempt(const row& identity, const std::function<void(row&)>& measure) const {
  if (time_is_up()) return out_.skip(identity, "the time limit is over");
  row measured = identity;
  try {
    measure(measured);
  } catch (const std::exception& problem) {
    return means_no_place(problem) ? out_.skip(identity, problem.what()) : out_.fail(identity, problem.what());
  }
  out_.add(measured);
}

std::vector<std::size_t> powers_of_two(int first, int last, int step) {
  std::vector<std::size_t> result;
  for (int exponent = first; exponent <= last; exponent += step) result.push_back(std::size_t{1} << exponent);
  return result;
}

}  // namespace quadrat::bench
