// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "distributed/ranks/gathered.hpp"
#include "io/ranks_file.hpp"
#include "program/run/models/model_simulation.hpp"
#include "quadrat/distributed/key_reducer.hpp"
#include "quadrat/io/rank_files.hpp"
#include "quadrat/models/distributed_granular.hpp"

namespace quadrat::program {

/// Writes and reads the files of a run on several ranks; each rank handles the grains of some ids. Every rank has one
/// object. Rank 0 sets the arguments of a task and has all ranks perform it.
template <typename Context, typename T>
class shared_files {
 public:
  using model_type = distributed_granular<Context, T>;
  using frame_maker = std::function<io::particle_frame(const granular_state<T>&)>;

  enum class task : std::uint64_t { frame, save, load, restore, sample };

  /// `make_frame`: makes a frame of some grains, without its time. The communicator must outlive this.
  shared_files(communicator& ranks, frame_maker make_frame) : ranks_(&ranks), make_frame_(std::move(make_frame)) {}

  // Arguments, which rank 0 sets, and results of tasks.
  std::filesystem::path file{};
  double time = 0;              ///< of a frame
  io::checkpoint rest{};        ///< of `save` and `load`: the checkpoint without grains
  std::uint64_t stride = 1;     ///< of `sample`: every stride-th grain, by id
  granular_state<T> sampled{};  ///< result of `sample`

  /// Performs a task. Collective. An error on one rank is thrown on all.
  void perform(task what, model_type& model) {
    switch (what) {
      case task::frame:
        return write_frame(model);
      case task::save:
        return save(model);
      case task::load:
        return load();
      case task::restore:
        return restore(model);
      case task::sample:
        return sample(model);
    }
  }

 private:
  struct sampled_grain {
    vec<T, 3> position, velocity;
  };

  [[nodiscard]] std::filesystem::path file_of_all() { return io::text_of_rank_0(*ranks_, file.string()); }
  [[nodiscard]] key_share ids(std::uint64_t count) const { return keys_of_rank(count, ranks_->rank(), ranks_->size()); }

  void write_frame(model_type& model) {
    const auto target = file_of_all();
    io::particle_frame frame = make_frame_(model.share());
    frame.time = all_values(*ranks_, time)[0];
    frame.first_id = ids(model.size()).first;
    if (target.extension() == ".xyz") {
      io::write_xyz(*ranks_, target, frame);
    } else {
      io::write_pieces(*ranks_, target, frame);
    }
  }
  void save(model_type& model) {
    const auto target = file_of_all();
    const granular_state<T> state = model.share();
    io::checkpoint rows;
    add_vectors(rows, "positions", state.positions);
    add_vectors(rows, "velocities", state.velocities);
    io::write_checkpoint(*ranks_, target, rows, rest);
  }
  void load() {
    constexpr std::string_view by_row[] = {"positions", "velocities", "storage_order"};
    auto read = io::read_checkpoint(*ranks_, file_of_all(), by_row);
    rows_ = std::move(read.rows);
    rest = std::move(read.rest);
  }
  /// Sets the model to the loaded state.
  void restore(model_type& model) {
    granular_state<T> state;
    together(*ranks_, [&] {
      const key_share own = ids(rows_.particles);
      const auto count = static_cast<std::size_t>(own.end - own.first);
      state = {
          rows_.step, get_vectors<T, 3>(rows_, "positions", count), get_vectors<T, 3>(rows_, "velocities", count), {}};
    });
    rows_ = {};
    model.restore(state);
  }
  void sample(model_type& model) {
    const std::uint64_t apart = all_values(*ranks_, stride)[0], first = ids(model.size()).first;
    const granular_state<T> state = model.share();
    std::vector<sampled_grain> mine;
    for (std::size_t i = 0; i < state.positions.size(); ++i) {
      if ((first + i) % apart == 0) mine.push_back({state.positions[i], state.velocities[i]});
    }
    sampled = {};
    for (const sampled_grain& one : detail::gathered(*ranks_, mine)) {
      sampled.positions.push_back(one.position);
      sampled.velocities.push_back(one.velocity);
    }
  }

  communicator* ranks_;
  frame_maker make_frame_;
  io::checkpoint rows_;
};

}  // namespace quadrat::program
