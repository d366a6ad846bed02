// SPDX-License-Identifier: BSD-3-Clause
#include "cells/subject.hpp"

namespace quadrat::bench {

tally expected_contents(std::size_t n) {
  std::uint64_t hashes = 0;
  const auto last = static_cast<std::int64_t>(n);
#pragma omp parallel for schedule(static) reduction(+ : hashes)
  for (std::int64_t i = 0; i < last; ++i) {
    const auto particle = static_cast<std::uint32_t>(i);
    hashes += pair_hash(particle, particle);
  }
  return {n, hashes};
}

}  // namespace quadrat::bench
