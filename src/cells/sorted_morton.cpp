// SPDX-License-Identifier: BSD-3-Clause
#include "cells/grid_cells_build.hpp"
#include "cells/sorted_build.hpp"
#include "core/backend.hpp"

namespace quadrat {

template class grid_cells<cell_methods::sorted_morton, backend_context, float, 2, morton_numbering<2>,
                          center_anchor<float, 2>, sorted_buckets<backend_context>>;
template class grid_cells<cell_methods::sorted_morton, backend_context, float, 3, morton_numbering<3>,
                          center_anchor<float, 3>, sorted_buckets<backend_context>>;
template class grid_cells<cell_methods::sorted_morton, backend_context, double, 2, morton_numbering<2>,
                          center_anchor<double, 2>, sorted_buckets<backend_context>>;
template class grid_cells<cell_methods::sorted_morton, backend_context, double, 3, morton_numbering<3>,
                          center_anchor<double, 3>, sorted_buckets<backend_context>>;

}  // namespace quadrat
