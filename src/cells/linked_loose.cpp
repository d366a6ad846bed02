// SPDX-License-Identifier: BSD-3-Clause
#include "cells/grid_cells_build.hpp"
#include "cells/linked_build.hpp"
#include "core/backend.hpp"

namespace quadrat {

template class grid_cells<cell_methods::linked_loose, backend_context, float, 2, row_major_numbering<2>,
                          center_anchor<float, 2>, linked_buckets<backend_context>>;
template class grid_cells<cell_methods::linked_loose, backend_context, float, 3, row_major_numbering<3>,
                          center_anchor<float, 3>, linked_buckets<backend_context>>;
template class grid_cells<cell_methods::linked_loose, backend_context, double, 2, row_major_numbering<2>,
                          center_anchor<double, 2>, linked_buckets<backend_context>>;
template class grid_cells<cell_methods::linked_loose, backend_context, double, 3, row_major_numbering<3>,
                          center_anchor<double, 3>, linked_buckets<backend_context>>;

}  // namespace quadrat
