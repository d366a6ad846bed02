// SPDX-License-Identifier: BSD-3-Clause
#include "papers/link.hpp"

#include "core/paper_methods.hpp"
#include "mesh/papers/cusparse.hpp"
#include "quadrat/core/config.hpp"

namespace quadrat::detail {

namespace {

template <typename Context>
void link_papers() {
  constexpr const Context* backend = nullptr;
  link_contact_papers(backend);
  link_mesh_papers(backend);
  link_keyed_papers(backend);
  link_granular_papers(backend);
}

}  // namespace

}  // namespace quadrat::detail

/// Linkers are told to look for this name: so they take this file out of the library.
extern "C" {
extern const bool quadrat_papers;
const bool quadrat_papers = [] {
  using namespace quadrat;
  detail::link_papers<cpu_context>();
#if QUADRAT_HAS_CUDA
  detail::link_papers<cuda_context>();
  detail::find_cusparse = detail::cusparse_present;
#endif
  return detail::papers_linked = true;
}();
}
