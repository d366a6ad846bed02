// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "contacts/bodies/by_id.hpp"
#include "contacts/bodies/place.hpp"
#include "contacts/candidate_pairs.hpp"
#include "contacts/count_fill.hpp"
#include "contacts/counted_rows.hpp"
#include "contacts/families.hpp"
#include "contacts/search_plan.hpp"
#include "quadrat/contacts/contact_detector.hpp"

/// The implementation of contact_detector. Its functions are in detector_build.hpp (search and sort) and
/// detector_check.hpp (faults of the data).
namespace quadrat {

template <typename Context, typename T>
struct contact_detector<Context, T>::implementation {
  implementation(const Context& where, const contact_options<T>& chosen)
      : context(where), options(chosen), by_id(where), search(where) {}

  void build(const bodies_view<T>& given);
  void grow(std::uint64_t contacts);
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  contact_options<T> options;
  enum class stage { empty, built, failed } state = stage::empty;
  bool found_directly = false;  ///< whether the last build used the direct search
  std::uint64_t size = 0;
  const particle_id* ids = nullptr;  ///< of the bodies of the last build
  double contacts_of_a_body = -1;    ///< in the last search that found all; below 0: there was none

  detail::bodies_by_id<Context, T> by_id;
  detail::search_plan<Context, T> search;
  detail::candidate_pairs<Context, T> candidates;
  detail::counted_rows<Context> rows;
  array<plane<T>, Context> planes;
  array<contact<T>, Context> records[2];  // the second is for the sort
  int current = 0;
  array<std::uint64_t, Context> keys;
  array<std::uint32_t, Context> order;
  workspace<Context> scratch;

 private:
  [[nodiscard]] bool sorted() const { return options.sorted || context.reproducibility() == determinism::canonical; }
  [[nodiscard]] detail::place_body<T> placing(const bodies_view<T>& bodies) const {
    bodies_view<T> on_device = bodies;
    on_device.planes = {};
    return {on_device, options.domain.value_or(detail::open_box<T>())};
  }
  void find_contacts(const bodies_view<T>& bodies);
  void look_at(const bodies_view<T>& bodies);
  [[nodiscard]] bool find_directly(const bodies_view<T>& bodies, bool planned_directly);
  void find(const bodies_view<T>& bodies);
  void find_in_candidates(const bodies_view<T>& bodies, const detail::any_family<T>& family);
  template <typename Family>
  void find_in_rows(const bodies_view<T>& bodies, std::size_t pair_rows,
                    const detail::row_passes<Family, detail::contact_sink<T>>& passes, const Family& family);
  [[nodiscard]] detail::plane_search<T> plane_rows(const bodies_view<T>& bodies);
  void sort(const bodies_view<T>& bodies);
  [[noreturn]] void fail(const bodies_view<T>& bodies, std::size_t place);
};

}  // namespace quadrat
