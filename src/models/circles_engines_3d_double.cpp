// SPDX-License-Identifier: BSD-3-Clause
#include "core/backend.hpp"
#include "models/circles_make_engine.hpp"

namespace quadrat::detail {

template std::unique_ptr<circles_engine<backend_context, double, 3>> make_circles_engine(
    std::string_view order, std::string_view cell_list, const backend_context& context,
    const circles_setup<double, 3>& setup);

}  // namespace quadrat::detail
