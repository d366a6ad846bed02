// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadrat::bench {

/// Random whole numbers from -127 to 127: count x components.
[[nodiscard]] std::vector<std::int8_t> key_values(std::size_t count, int components);

/// Their sums: key_count x components.
[[nodiscard]] std::vector<std::int64_t> sums_by_key(const std::vector<std::uint32_t>& keys,
                                                    const std::vector<std::int8_t>& values, std::uint32_t key_count,
                                                    int components);

}  // namespace quadrat::bench
