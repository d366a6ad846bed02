// SPDX-License-Identifier: BSD-3-Clause
#include "cells/subject_make.hpp"
#include "core/backend.hpp"

namespace quadrat::bench {

template std::unique_ptr<cell_subject<backend_context, double>> make_cell_subject(std::string_view,
                                                                                  const backend_context&,
                                                                                  const grid<double, 3>&,
                                                                                  const cell_list_options<double>&);

}  // namespace quadrat::bench
