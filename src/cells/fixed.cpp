// SPDX-License-Identifier: BSD-3-Clause
#include "cells/fixed_build.hpp"
#include "cells/grid_cells_build.hpp"
#include "core/backend.hpp"

namespace quadrat {

template class grid_cells<cell_methods::fixed, backend_context, float, 2, row_major_numbering<2>,
                          center_anchor<float, 2>, fixed_buckets<backend_context, column_major_layout>>;
template class grid_cells<cell_methods::fixed, backend_context, float, 3, row_major_numbering<3>,
                          center_anchor<float, 3>, fixed_buckets<backend_context, column_major_layout>>;
template class grid_cells<cell_methods::fixed, backend_context, double, 2, row_major_numbering<2>,
                          center_anchor<double, 2>, fixed_buckets<backend_context, column_major_layout>>;
template class grid_cells<cell_methods::fixed, backend_context, double, 3, row_major_numbering<3>,
                          center_anchor<double, 3>, fixed_buckets<backend_context, column_major_layout>>;

}  // namespace quadrat
