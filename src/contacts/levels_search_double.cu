// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/levels_launch.cuh"

namespace quadrat::detail {

template void search_levels(const cuda_context&, const levels_search<double>&, const levels_sink<double>&);

}  // namespace quadrat::detail
