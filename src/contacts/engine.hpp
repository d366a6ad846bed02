// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "contacts/bodies/placement.hpp"
#include "contacts/contact_task.hpp"
#include "contacts/families.hpp"
#include "contacts/request.hpp"
#include "quadrat/contacts/shapes.hpp"

/// The interface of all methods of contacts. contact_detector and broad_phase choose a method, then let its engine plan
/// bins and search.
namespace quadrat::detail {

/// The input of planning bins, besides the bodies.
template <typename T>
struct bin_options {
  T size = T(0);           ///< edge; 0: auto
  bool balanced = true;    ///< for methods that balance
  bodies_view<T> given{};  ///< the caller's bodies; empty if boxes are searched
};

/// Chosen bins, and the reason.
template <typename T>
struct planned_bins {
  T edge;  ///< of the finest; 0: no bins
  std::string reason;
  /// The largest half extent planned for. If bodies are wider, search_control::largest_word has their extent.
  T widest = std::numeric_limits<T>::infinity();
};

/// A search for pairs of boxes.
template <typename Context, typename T>
struct pair_task {
  placed_bodies<Context, T> bodies;
  box_family<T> family;
  candidate_pairs<Context, T>* pairs;
};

/// A method of contacts. Searches are asynchronous and allocate only to grow, if the control of the search does not
/// wait; see there. If the context requires run_to_run, the order of results depends on the bodies alone.
template <typename Context, typename T>
class contact_engine {
 public:
  explicit contact_engine(const Context& context) : context_(context) {}
  contact_engine(const contact_engine&) = delete;
  contact_engine& operator=(const contact_engine&) = delete;
  virtual ~contact_engine() = default;

  /// Chooses bins for this and later searches. May synchronize. Throws argument_error if the requested size gives too
  /// many.
  [[nodiscard]] virtual planned_bins<T> plan(const placed_bodies<Context, T>& bodies,
                                             const bin_options<T>& options) = 0;
  /// Finds the contacts of at least one body, in the bins of the last plan. Throws argument_error if bodies touch too
  /// many bins.
  virtual void find_contacts(contact_task<Context, T>& task) = 0;
  /// The same for pairs of boxes.
  virtual void find_pairs(const pair_task<Context, T>& task) = 0;
  /// Bytes of the context's memory held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;

 protected:
  [[nodiscard]] const Context& context() const { return context_; }

 private:
  Context context_;
};

/// Makes the engine of a method of quadrat::papers: see core/paper_methods.hpp.
template <typename Context, typename T>
using contact_engine_maker = std::unique_ptr<contact_engine<Context, T>>(const Context&);

/// An engine that arranges placed bodies in rows and searches them twice: to count, and to write. `Engine` has
///   void insert(const placed_bodies<Context, T>&);  arranges the bodies of the last plan
///   std::size_t rows() const; auto search() const;  see searched_rows
///   static constexpr bool tests_all_shapes;         whether rows are searched for contacts of any shapes; otherwise
///                                                   for pairs of boxes, among which these are searched
///   static constexpr bool several_systems;          whether rows hold bodies of several systems, in
///   placed_bodies::domains
/// Its source includes row_engine.hpp.
template <typename Engine, typename Context, typename T>
class row_engine : public contact_engine<Context, T> {
 public:
  using contact_engine<Context, T>::contact_engine;
  static constexpr bool tests_all_shapes = false;
  static constexpr bool several_systems = false;

  void find_contacts(contact_task<Context, T>& task) override;
  void find_pairs(const pair_task<Context, T>& task) override;

 private:
  [[nodiscard]] Engine& self() { return static_cast<Engine&>(*this); }
  [[nodiscard]] const Engine& self() const { return static_cast<const Engine&>(*this); }
  template <typename Domain>
  void find_contacts_in(const Domain& domain, contact_task<Context, T>& task);
  template <typename Sink, typename Family>
  [[nodiscard]] auto rows_of(const Family& family) const;
};

}  // namespace quadrat::detail
