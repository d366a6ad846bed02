// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/buckets.hpp"

#include "cells/buckets_build.hpp"
#include "cells/counting_build.hpp"
#include "cells/fixed_build.hpp"
#include "cells/linked_build.hpp"
#include "cells/sorted_build.hpp"
#include "core/backend.hpp"

namespace quadrat {

template class keyed_buckets<backend_context, linked_buckets<backend_context>>;
template class keyed_buckets<backend_context, counting_buckets<backend_context>>;
template class keyed_buckets<backend_context, sorted_buckets<backend_context>>;
template class keyed_buckets<backend_context, fixed_buckets<backend_context, column_major_layout>>;
template class keyed_buckets<backend_context, fixed_buckets<backend_context, row_major_layout>>;

template class hash_table<backend_context, linked_buckets<backend_context>>;
template class hash_table<backend_context, counting_buckets<backend_context>>;
template class hash_table<backend_context, sorted_buckets<backend_context>>;
template class hash_table<backend_context, fixed_buckets<backend_context, column_major_layout>>;
template class hash_table<backend_context, fixed_buckets<backend_context, row_major_layout>>;

}  // namespace quadrat
