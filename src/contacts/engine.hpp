// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "contacts/bodies/placed.hpp"
#include "contacts/bodies/size_histogram.hpp"
#include "contacts/families.hpp"
#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/fault.hpp"

/// What all methods of contacts have in common: an engine puts bodies where its rows find them, and goes through these
/// rows twice, to count what they find and to write it.
namespace quadrat::detail {

/// Below so many bodies every pair is tried: what it costs to make bins is more.
inline constexpr std::size_t brute_force_most_bodies = 64;

/// What the records of methods are asked.
struct pair_request {
  std::size_t bodies;
  bool boxes = false;  ///< pairs of boxes are wanted, and no contacts
};

/// What most records of methods say. Besides, and besides what method_choice.hpp asks of them, they have
///   static constexpr std::string_view why;     with `cost`: the reason that is given where it is chosen
///   static constexpr std::string_view limits;  with `serves`: what it cannot do, and why
///   template <typename Context, typename T> using engine
struct pair_record {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::canonical;
  static constexpr bool bins = true;  ///< whether it has bins, whose size can be chosen
  /// Whether its work can grow with the square of the number of bodies. It then has no finite `cost` for more than
  /// brute_force_most_bodies, and is never chosen for them.
  static constexpr bool quadratic = false;
};

/// Bodies that have been placed, and what is known of all of them.
template <typename T>
struct placed_bodies {
  const placed_body<T>* bodies;  ///< in the memory of the context
  std::size_t count;             ///< at least 1
  const size_histogram<T>* sizes;
  box<T, 3> domain;  ///< around most centers, and around all along periodic axes
  fault_flag faults;
};

/// Bins that are asked for.
template <typename T>
struct bin_options {
  T size;         ///< edge; 0: chosen
  bool balanced;  ///< method `bins`: stage 6
};

/// Bins that were chosen, and why.
template <typename T>
struct planned_bins {
  T edge;  ///< of the finest; 0 where there are none
  std::string reason;
};

/// Two passes over the rows of an engine, for one family of bodies. Asynchronous.
template <typename Family, typename Sink>
class row_passes {
 public:
  /// counts[r] becomes what row r finds.
  virtual void count(const Family& family, std::uint32_t* counts) const = 0;
  /// Writes what row r finds from offsets[r] on, which is offsets[r + 1] - offsets[r] as counted.
  virtual void fill(const Family& family, const Sink& sink, const std::uint64_t* offsets) const = 0;

 protected:
  ~row_passes() = default;
};

template <typename T>
using sphere_passes = row_passes<sphere_family<T>, contact_sink<T>>;
template <typename T>
using body_passes = row_passes<any_family<T>, contact_sink<T>>;
template <typename T>
using box_passes = row_passes<box_family<T>, pair_sink>;

/// From the caller's bodies to records at once, for those that it serves: they are placed only to make a plan.
template <typename Context, typename T>
class direct_search {
 public:
  virtual ~direct_search() = default;
  [[nodiscard]] virtual bool serves(const bodies_view<T>& bodies) const = 0;
  /// Whether what was planned last still fits, as far as the host can see.
  [[nodiscard]] virtual bool planned_for(const bodies_view<T>& bodies) = 0;
  /// Looks at the sizes of all bodies, which are sound. Synchronizes.
  [[nodiscard]] virtual planned_bins<T> plan(const bodies_view<T>& bodies, const box<T, 3>& domain, T bin_size) = 0;
  /// Finds the contacts, makes room for them where there is not enough, and says how many there are; nothing where some
  /// body is not sound or does not fit the plan. Synchronizes.
  [[nodiscard]] virtual std::optional<std::uint64_t> find(const bodies_view<T>& bodies, const pair_masks& masks,
                                                          array<contact<T>, Context>& contacts) = 0;
  /// Bytes of the context's memory held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// A method of contacts. Each pair of bodies is found in one row only, and rows and what they find come in an order
/// that follows from the bodies alone where the context asks for run_to_run.
template <typename Context, typename T>
class pair_engine {
 public:
  explicit pair_engine(const Context& context) : context_(context) {}
  virtual ~pair_engine() = default;

  /// Chooses bins. Throws argument_error where those asked for are too many.
  [[nodiscard]] virtual planned_bins<T> plan(const placed_bodies<T>& bodies, const bin_options<T>& options) = 0;
  /// Puts the bodies of the last plan where rows find them. May synchronize. Throws argument_error where that takes too
  /// many bins.
  virtual void insert(const placed_bodies<T>& bodies) = 0;
  /// Of the last insert, below 2^31.
  [[nodiscard]] virtual std::size_t rows() const = 0;

  [[nodiscard]] virtual const sphere_passes<T>& spheres() const = 0;
  /// nullptr: this method cannot find pairs of boxes.
  [[nodiscard]] virtual const box_passes<T>* boxes() const { return nullptr; }
  /// nullptr: contacts of bodies of any shapes are looked for among pairs of their boxes.
  [[nodiscard]] virtual const body_passes<T>* bodies() const { return nullptr; }
  /// nullptr: it has none.
  [[nodiscard]] virtual direct_search<Context, T>* direct() { return nullptr; }

  /// Bytes of the context's memory held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;

 protected:
  [[nodiscard]] const Context& context() const { return context_; }

 private:
  Context context_;
};

/// An engine whose rows are those of a search, which `Engine::search()` gives: with spheres and boxes they are gone
/// through alike. Its source includes row_passes.hpp.
template <typename Engine, typename Context, typename T>
class row_engine : public pair_engine<Context, T>, public sphere_passes<T>, public box_passes<T> {
 public:
  using pair_engine<Context, T>::pair_engine;

  [[nodiscard]] const sphere_passes<T>& spheres() const override { return *this; }
  [[nodiscard]] const box_passes<T>* boxes() const override { return this; }
  void count(const sphere_family<T>& family, std::uint32_t* counts) const override;
  void fill(const sphere_family<T>& family, const contact_sink<T>& sink, const std::uint64_t* offsets) const override;
  void count(const box_family<T>& family, std::uint32_t* counts) const override;
  void fill(const box_family<T>& family, const pair_sink& sink, const std::uint64_t* offsets) const override;

 private:
  [[nodiscard]] const Engine& self() const { return static_cast<const Engine&>(*this); }
};

}  // namespace quadrat::detail
