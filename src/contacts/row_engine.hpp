// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contacts/candidate_pairs.hpp"
#include "contacts/engine.hpp"
#include "contacts/rows.hpp"

/// The functions of row_engine. Only sources of engines include it, so that each engine's kernels are compiled once.
namespace quadrat::detail {

template <typename Engine, typename Context, typename T>
template <typename Sink, typename Family>
auto row_engine<Engine, Context, T>::rows_of(const Family& family) const {
  const auto search = self().search();
  return searched_rows<Context, std::remove_cvref_t<decltype(search)>, Family, Sink>(this->context(), self().rows(),
                                                                                     search, family);
}

template <typename Engine, typename Context, typename T>
void row_engine<Engine, Context, T>::find_contacts(contact_task<Context, T>& task) {
  self().insert(task.place());
  if constexpr (Engine::several_systems) {
    find_contacts_in(task.domains(), task);
  } else {
    find_contacts_in(task.domain(), task);
  }
}

template <typename Engine, typename Context, typename T>
template <typename Domain>
void row_engine<Engine, Context, T>::find_contacts_in(const Domain& domain, contact_task<Context, T>& task) {
  using sink = contact_sink<T, Domain>;
  if (task.bodies().spheres()) {
    task.find_in_rows(rows_of<sink>(sphere_family<T, Domain>{domain, task.groups()}), domain);
  } else if constexpr (Engine::tests_all_shapes) {
    task.find_in_rows(rows_of<sink>(any_family<T, Domain>{domain, task.groups(), task.bodies()}), domain);
  } else {
    task.find_in_pairs(rows_of<pair_sink>(box_family<T, Domain>{domain, task.groups(), {}}), domain);
  }
}

template <typename Engine, typename Context, typename T>
void row_engine<Engine, Context, T>::find_pairs(const pair_task<Context, T>& task) {
  self().insert(task.bodies);
  task.pairs->find(this->context(), *task.bodies.control, rows_of<pair_sink>(task.family));
}

}  // namespace quadrat::detail
