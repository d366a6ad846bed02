// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "quadrat/io/checkpoint.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat::program {

/// What a picture or a frame shows: by particle id, in single precision.
struct snapshot {
  std::vector<vec<float, 3>> positions;
  std::vector<vec<float, 3>> velocities;
};

/// A granular simulation on some device in some precision.
class simulation {
 public:
  virtual ~simulation() = default;

  /// Takes steps and waits for them. Throws data_error or overflow_error, which name the step.
  virtual void run(std::size_t steps) = 0;
  [[nodiscard]] virtual granular_statistics measure() = 0;
  [[nodiscard]] virtual snapshot look() = 0;

  /// Everything that a later `restore` needs, without the parameters.
  [[nodiscard]] virtual io::checkpoint save() = 0;
  /// Throws io_error when the checkpoint lacks something or has another number of particles.
  virtual void restore(const io::checkpoint& state) = 0;

  [[nodiscard]] virtual std::uint64_t step() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
  [[nodiscard]] virtual std::string method() const = 0;
  /// "cpu" or "cuda".
  [[nodiscard]] virtual std::string backend() const = 0;
  [[nodiscard]] virtual std::string device_name() const = 0;
  /// Host threads that compute; 0 on a GPU.
  [[nodiscard]] virtual int threads() const = 0;
};

/// The simulation of a checked and completed scene, at step 0. The device must be decided, not `automatic`. Throws
/// backend_error when the device is not there.
[[nodiscard]] std::unique_ptr<simulation> make_simulation(const io::granular_scene& scene);

}  // namespace quadrat::program
