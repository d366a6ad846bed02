// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/session.hpp"

/// The problem of voting-and-shuffling, "Performance tests": 100^3 cells with 10 elements each.
namespace quadrat::bench {

inline constexpr std::array<std::string_view, 3> paper_orders{"ordered", "shifted", "random"};

struct paper_problem {
  std::uint32_t keys;
  std::size_t n;
};

/// Uses fewer cells on a CPU, or in a quick run.
[[nodiscard]] paper_problem paper_problem_for(const session& s);

/// The keys of the problem in one of the orders, made once.
[[nodiscard]] const std::vector<std::uint32_t>& paper_keys(const session& s, std::string_view order);

}  // namespace quadrat::bench
