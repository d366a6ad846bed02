// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace quadrat::bench {

/// Distributions of points in the unit square or cube, for the cases of a choice.
inline constexpr std::array<std::string_view, 8> place_distributions{
    "uniform",    // random
    "clustered",  // 32 Gaussian blobs
    "lines",      // 16 straight lines
    "shells",     // the surfaces of 4 spheres
    "gradient",   // the density falls by 1,000 along x
    "crowd",      // persons on jittered lattices in front of 5 doors
    "dam",        // a jittered lattice in a corner, as of a fluid before it falls, with some spray
    "blob"        // nine of ten points in one dense blob
};

/// Coordinates of n points, [point][axis], in [0, 1); in random memory order, or along a Morton curve if `sorted`.
[[nodiscard]] std::vector<double> make_places(std::string_view distribution, std::size_t n, int dimension,
                                              std::uint64_t seed, bool sorted);

}  // namespace quadrat::bench
