// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/sample.hpp"

#include "core/backend.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

template <typename Context>
std::vector<std::uint32_t> read_key_sample(const Context& context, const key_source& source,
                                           const key_sample_layout& layout, workspace<Context>& scratch) {
  auto* const keys = reinterpret_cast<std::uint32_t*>(scratch.request(context, layout.taken * sizeof(std::uint32_t)));
  for_each(context, "keyed.sample", layout.taken, take_key_sample{source, layout, keys});
  return to_host(context, keys, layout.taken);
}

template std::vector<std::uint32_t> read_key_sample(const backend_context&, const key_source&, const key_sample_layout&,
                                                    workspace<backend_context>&);

}  // namespace quadrat::detail
