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

/// The distribution for test cases: frames of simulations instead of imitations of them.
[[nodiscard]] constexpr std::string_view unseen_distribution(std::string_view fitted) {
  return fitted == "crowd" ? "crowd_frame" : fitted == "dam" ? "dam_frame" : fitted;
}

/// Coordinates of n points, [point][axis], in [0, 1); in random memory order, or along a Morton curve if `sorted`. If a
/// frame has fewer points: several halls, each at another time (stacked as floors in three dimensions), or particles of
/// a fluid divided into smaller ones.
[[nodiscard]] std::vector<double> make_places(std::string_view distribution, std::size_t n, int dimension,
                                              std::uint64_t seed, bool sorted);

}  // namespace quadrat::bench
