// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/pair_search.hpp"

#include "contacts/pair_search_insert.hpp"
#include "contacts/pair_search_plan.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

template class pair_search<backend_context, float>;
template class pair_search<backend_context, double>;

}  // namespace quadrat::detail
