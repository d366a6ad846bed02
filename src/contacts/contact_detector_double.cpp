// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/contact_detector.hpp"

#include "core/backend.hpp"

namespace quadrat {

template class contact_detector<backend_context, double>;

}  // namespace quadrat
