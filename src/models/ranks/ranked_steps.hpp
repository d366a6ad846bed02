// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "distributed/ranks/gathered.hpp"
#include "models/ranks/exchange.hpp"
#include "models/ranks/model_share.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"

/// The steps of every model over ranks.
namespace quadrat::detail {

/// The largest component of a particle's distance from its position when the ghosts were chosen.
template <typename T, int D>
struct distance_along_axes {
  box<T, D> domain;
  points_view<T, D> now, before;

  QUADRAT_HD T operator()(std::size_t i) const {
    const vec<T, D> moved = domain.separation(before[i], now[i]);
    T most = 0;
    for (int axis = 0; axis < D; ++axis) {
      const T along = std::fabs(moved[axis]);
      most = along > most ? along : most;
    }
    return most;
  }
};

/// The base of every model on a rank.
template <typename Context, typename T, int D>
struct particles_of_rank {
  /// `space`: the cells of which ranks own blocks. `words`: of faults.
  particles_of_rank(const Context& context, communicator& ranks, const grid<T, D>& space, std::size_t words = 1)
      : context_(context), ranks_(ranks), exchange_(context, ranks, space), faults_(context, words) {}
  particles_of_rank(const particles_of_rank&) = delete;
  particles_of_rank& operator=(const particles_of_rank&) = delete;

  /// Completes transfers to this rank, and undoes work enqueued ahead, before particles change ranks.
  void settle() {}
  /// Whether an own particle has moved by half of the skin since ghosts were chosen; the reach of the halo includes
  /// rounding. `name`: of the kernel. Synchronizes.
  [[nodiscard]] bool far_from(const points_view<T, D>& before, const points_view<T, D>& now, T skin, const char* name) {
    const distance_along_axes<T, D> distance{exchange_.space().domain, now, before};
    return own_ > 0 && 2 * reduce_maximum(context_, name, own_, distance, scratch_) >= skin;
  }
  /// The smallest word of a run_fault of this rank. Synchronizes.
  [[nodiscard]] std::uint64_t first_fault() const {
    const auto words = to_host(context_, faults_);
    return *std::min_element(words.begin(), words.end());
  }

  Context context_;
  communicator& ranks_;
  rank_exchange<Context, T, D> exchange_;
  std::size_t own_ = 0;     ///< particles of this rank, the first of all arrays; ghosts follow them
  std::uint64_t step_ = 0;  ///< steps taken
  array<std::uint64_t, Context> faults_;
  workspace<Context> scratch_;
};

/// A model over ranks: it derives from particles_of_rank, and has
///   whole_type           the model on one rank; its state is that of all particles, and has `step` and `positions`
///   load(state, first)   takes the particles that this rank gives, with ids from `first`; sets own_. Not collective
///   points()             the positions of the own particles
///   start()              makes the first exchange after `load`, and prepares the first step
///   move(more)           the first part of a step. Returns whether a particle of this rank has left the cells that it
///                        may be in, or moved so far that new ghosts must be chosen. `more`: another step may follow
///   exchange(balanced)   particles change ranks: exchange_.leave, then exchange_.travel with the list of the fields
///                        that travel; chooses ghosts. `balanced`: blocks are new
///   finish(more)         the second part of a step: forces with all ghosts, and their effect. `more`: another step
///                        follows
///   throw_fault(word)    throws the data_error of a run_fault, that of the model on one rank
///   gather(state)        gives rank 0 the state of all, but for the step
///   report(), bytes()
/// and may have measure(), which all ranks call together instead of the model on one rank; amend(statistics), which
/// corrects statistics that a restored model cannot know; check_cells(), not collective, which throws if a cell list
/// could not be built; and blown_up(error), the message for an error of a step. All are collective unless stated
/// otherwise. A step that throws data_error throws it on all ranks.
///
/// If ranks' devices agree among themselves, steps can be enqueued before the host knows that earlier ones are whole.
/// Such a model has
///   ahead()              how many steps may be enqueued before the first is known to be whole; 1: none is ahead
///   move_ahead()         enqueues the next step; ranks agree on wishes only
///   is_whole(step)       whether it is whole; otherwise it and later steps have done nothing
///   redo()               called before the exchange of a step that is not whole, and its `finish`
template <typename Model>
concept ranked_model = requires(Model& model, typename distributed_model<typename Model::whole_type>::state_type& state,
                                const Model& given, std::uint64_t word, bool flag) {
  { state.step } -> std::convertible_to<std::uint64_t>;
  state.positions.size();
  model.load(std::as_const(state), std::size_t());
  model.points();
  model.start();
  { model.move(flag) } -> std::same_as<bool>;
  model.settle();
  model.exchange(flag);
  model.finish(flag);
  model.gather(state);
  given.throw_fault(word);
  { given.report() } -> std::same_as<rank_report>;
  { given.bytes() } -> std::same_as<std::size_t>;
};

template <typename Model>
concept steps_ahead = requires(Model& model) {
  model.move_ahead();
  model.redo();
};

/// The steps of a model: move, agree whether particles must change ranks, exchange them, finish. A fault ends a run:
/// the step stays that of the fault, `advance` does nothing, and all ranks throw the same error, until a state is
/// set.
template <ranked_model Model>
class ranked_steps final : public model_share<typename Model::whole_type> {
  using base = model_share<typename Model::whole_type>;
  using wish_type = std::function<int()>;

 public:
  using typename base::state_type;
  using typename base::statistics_type;

  /// The arguments of the model.
  template <typename... Arguments>
  explicit ranked_steps(Arguments&&... arguments) : model_(std::forward<Arguments>(arguments)...) {}

  void set(const state_type& state) override {
    struct gift {
      std::uint64_t step, count;
    };
    const auto gifts = all_values(model_.ranks_, gift{state.step, state.positions.size()});
    std::uint64_t first = 0;
    for (int rank = 0; rank < model_.ranks_.rank(); ++rank) first += gifts[static_cast<std::size_t>(rank)].count;
    together(model_.ranks_, [&] {
      model_.load(state, static_cast<std::size_t>(first));
      fill_bytes(model_.context_, model_.faults_.data(), 0xff, model_.faults_.bytes());  // no_run_fault
      model_.context_.synchronize();
    });
    model_.step_ = gifts[0].step;
    fault_ = no_run_fault;
    failure_.reset();
    model_.exchange_.balance(model_.points());
    model_.start();
    agree();
  }

  int advance(std::size_t steps, const wish_type& wish) override {
    if (steps == 0 || ended()) return 0;
    int agreed = 0;
    try {
      if constexpr (steps_ahead<Model>) {
        agreed = take_steps_ahead(steps, wish);
      } else {
        for (std::size_t k = 0; k < steps && agreed == 0; ++k) agreed = take_step(wish(), k + 1 < steps);
      }
    } catch (const data_error& error) {  // the same on all ranks
      ++model_.step_;
      end_by(error);
    }
    agree();
    return agreed;
  }

  void check() override {
    model_.throw_fault(fault_);
    if (failure_) throw *failure_;
  }
  [[nodiscard]] bool ended() const { return fault_ != no_run_fault || failure_; }

  [[nodiscard]] state_type gather() override {
    state_type state;
    if (model_.ranks_.rank() == 0) state.step = model_.step_;
    model_.gather(state);
    return state;
  }
  [[nodiscard]] std::optional<statistics_type> measure() override {
    if constexpr (requires { model_.measure(); }) return model_.measure();
    return {};
  }
  void amend(statistics_type& result) const override {
    if constexpr (requires { model_.amend(result); }) model_.amend(result);
  }

  [[nodiscard]] std::uint64_t step() const override { return model_.step_; }
  [[nodiscard]] std::size_t own() const override { return model_.own_; }
  [[nodiscard]] rank_report report() const override { return model_.report(); }
  [[nodiscard]] std::size_t bytes() const override {
    return model_.bytes() + model_.exchange_.bytes() + model_.faults_.bytes() + model_.scratch_.bytes();
  }
  [[nodiscard]] Model& model() { return model_; }
  [[nodiscard]] const Model& model() const { return model_; }

 private:
  void exchange() {
    model_.settle();
    model_.exchange(model_.exchange_.balance_if_worth(model_.points()));
  }
  /// Returns the largest wish of all ranks.
  int take_step(int wish, bool more) {
    const bool far = model_.move(more);
    const bool due = model_.exchange_.due(far, model_.own_, wish);
    const auto agreed = static_cast<int>(model_.exchange_.wish());
    if (due) exchange();
    model_.finish(more && agreed == 0);
    ++model_.step_;
    return agreed;
  }
  int take_steps_ahead(std::size_t steps, const wish_type& wish);
  void end_by(const data_error& error) {
    if constexpr (requires { model_.blown_up(error); }) {
      failure_ = model_.blown_up(error);
    } else {
      failure_ = error;
    }
  }
  void agree();

  Model model_;
  std::uint64_t fault_ = no_run_fault;  ///< the first of all ranks
  std::optional<data_error> failure_;   ///< another error that ended the run; the same on all ranks
};

/// The host learns late which steps are whole. wish() is called once per step, when the step is first enqueued.
template <ranked_model Model>
int ranked_steps<Model>::take_steps_ahead(std::size_t steps, const wish_type& wish) {
  std::uint64_t& step = model_.step_;
  std::uint64_t end = step + steps, asked = step, whole = step;  // bounds of the steps already asked, and already whole
  int agreed = 0;
  while (whole < end) {
    const std::size_t ahead = model_.ahead();
    if (step < end && step - whole < ahead) {
      const bool is_new = step == asked;
      const int mine = is_new ? wish() : 0;
      if (ahead == 1) {
        static_cast<void>(take_step(mine, step + 1 < end));
        whole = step;
      } else {
        if (is_new) static_cast<void>(model_.exchange_.due(false, model_.own_, mine));
        model_.move_ahead();
        ++step;
      }
      if (!is_new) continue;
      ++asked;
      agreed = static_cast<int>(model_.exchange_.wish());
      if (agreed != 0) end = step;
    } else if (model_.is_whole(whole)) {
      ++whole;
    } else {
      step = whole;
      model_.redo();
      exchange();
      model_.finish(true);
      whole = ++step;
    }
  }
  return agreed;
}

/// All ranks agree on the first fault, and so on the step at which the run has ended.
template <ranked_model Model>
void ranked_steps<Model>::agree() {
  for (const std::uint64_t one : all_values(model_.ranks_, model_.first_fault())) fault_ = std::min(fault_, one);
  if (fault_ != no_run_fault) {
    model_.step_ = std::min(model_.step_, fault_ >> 32);
    return;
  }
  if constexpr (requires { model_.check_cells(); }) {
    if (failure_) return;
    try {
      together(model_.ranks_, [&] { model_.check_cells(); });
    } catch (const data_error& error) {
      end_by(error);
    }
  }
}

/// values[row.id] = the member of the row: the rows of all particles.
template <typename Row, typename Member, typename E>
void place_by_id(const std::vector<Row>& rows, Member member, std::vector<E>& values) {
  values.resize(rows.size());
  for (const Row& row : rows) values[row.id] = row.*member;
}

}  // namespace quadrat::detail
