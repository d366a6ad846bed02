// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "distributed/particles/box_partitioner.hpp"

namespace quadrat::detail {

/// box_partitioner::partition by Zoltan's recursive coordinate bisection; empty where this build has no Zoltan.
[[nodiscard]] std::vector<part_box> partition_by_zoltan(MPI_Comm comm, int dimensions, std::span<const double> places,
                                                        std::span<const float> weights);

}  // namespace quadrat::detail
