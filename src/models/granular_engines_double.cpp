// SPDX-License-Identifier: BSD-3-Clause
#include "core/backend.hpp"
#include "models/granular_make_engine.hpp"

namespace quadrat::detail {

template std::unique_ptr<granular_engine<backend_context, double>> make_granular_engine(
    std::string_view name, const backend_context& context, const granular_setup<double>& setup);

}  // namespace quadrat::detail
