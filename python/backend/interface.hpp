// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "quadrat/choice/choose_method.hpp"
#include "quadrat/ewald/electrostatics.hpp"

/// What the Python package asks of a backend: plain pointers in, plain pointers out, nothing of Python's. The same
/// sources are compiled for the CPU into the extension module, and for CUDA into a library of its own, which is opened
/// when an array in the memory of a GPU comes: that library serves every version of Python.
///
/// Arrays are C-ordered, in the memory of the worker's device. All calls are complete when they return, except
/// `write`; results of `write` are complete after `synchronize`. Errors are the library's exceptions.
namespace quadrat::python {

/// Changes with every change below: both sides must be of one build.
inline constexpr int interface_version = 8;

/// Types of elements.
enum class number : std::uint8_t {
  boolean,
  int32,
  int64,
  uint32,
  uint64,
  float32,
  float64,
  complex64,
  complex128,
  other
};

/// Where and how work runs.
struct place {
  int device = -1;  ///< of CUDA; -1: the CPU
  int threads = 0;  ///< of the CPU; 0: all
  determinism level = determinism::none;
};

struct points_given {
  const void* data = nullptr;
  std::size_t count = 0;
  bool there = false;
};

/// Integers from 0, one by point: int32, int64 or uint32. A null pointer: none.
struct integers {
  const void* data = nullptr;
  number type = number::uint32;
  std::size_t count = 0;
  const char* name = "";
};

/// Boxes of `count` systems, on the host: vectors as rows, origins, periodic axes.
struct boxes_given {
  int dimension = 3;
  std::size_t count = 1;
  std::vector<double> vectors{};
  std::vector<double> origins{};
  std::vector<unsigned char> periodic{};

  /// Whether some axis is open: points may then be anywhere along it.
  [[nodiscard]] bool open() const {
    for (const unsigned char wraps : periodic) {
      if (wraps == 0) return true;
    }
    return false;
  }
};

/// Whatever works on a device.
class worker {
 public:
  worker() = default;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  virtual ~worker() = default;
  /// That work runs on, as an integer; 0 on CPUs.
  [[nodiscard]] virtual std::uintptr_t stream() const = 0;
  virtual void synchronize() = 0;
  /// Work from now on waits for what another stream of the device has been given so far. Nothing on CPUs. If that
  /// stream is being captured in a graph, the work becomes part of it; throws argument_error if this worker's cannot.
  virtual void wait_for(std::uintptr_t other) = 0;
};

struct neighbor_settings {
  double cutoff = 0;
  double skin = 0;
  bool half = false;
  bool sorted = false;
  std::string outputs{};  ///< letters of "ijSdDn"
  bool autotune = false;
  std::string method{};
  int rule = 0;                        ///< its number in cutoff_rule
  std::vector<double> type_cutoffs{};  ///< types x types
  bool open = false;

  friend bool operator==(const neighbor_settings&, const neighbor_settings&) = default;
};

/// Of a build of a list. Excluded pairs are on the host, i < N with any j, in any order.
struct neighbor_given {
  points_given points{};
  boxes_given boxes{};
  integers systems{};
  points_given queries{};
  integers systems_of_queries{};
  const void* radii = nullptr;  ///< by point
  integers types{};
  const void* radii_of_queries = nullptr;
  integers types_of_queries{};
  std::vector<std::array<std::uint32_t, 2>> excluded{};
};

class neighbor_search : public worker {
 public:
  /// Whether the list was built: `anew`, or because points have moved too far; without a skin it always is.
  virtual bool update(const neighbor_given& given, bool anew) = 0;
  [[nodiscard]] virtual std::size_t size() = 0;
  [[nodiscard]] virtual std::size_t rows() = 0;
  /// The array of a letter: indices as int64 or int32, and what has the precision of the points.
  virtual void write(char output, bool long_indices, void* to) = 0;
  [[nodiscard]] virtual std::string method() const = 0;
  /// Memory of the device that it holds.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

struct histogram_settings {
  double cutoff = 0;
  std::size_t bins = 0;
  std::uint32_t types = 1;
  bool open = false;      ///< points may be outside the box
  bool distinct = false;  ///< N (N - 1) instead of N^2
};

/// Counts of pairs by distance, over frames.
class histogram : public worker {
 public:
  /// `around`: the box is open, and is put around the points.
  virtual void add(const points_given& points, const boxes_given& boxes, bool around, const integers& types) = 0;
  /// On the host, by pair of types and bin.
  virtual void result(std::vector<double>& rdf, std::vector<std::uint64_t>& counts) = 0;
};

struct spread_settings {
  std::vector<double> lower{}, length{};
  std::vector<unsigned char> periodic{};
  std::vector<int> mesh{};
  int order = 4;
  bool clip = false;
  bool accept_outside = false;
  bool both_ends = false;  ///< mesh points on both faces of open axes
  double uses = 1;
  bool autotune = false;
  std::string method{};
};

/// Values (V, N), meshes (V, K...), gradients (V, N, D); real or complex, of the precision of the points.
class spreading : public worker {
 public:
  virtual void set_points(const points_given& points) = 0;
  /// Throws data_error for points that a replay of a graph was given.
  virtual void check() = 0;
  virtual void spread(const void* values, bool complex, int vectors, void* mesh) = 0;
  virtual void interpolate(const void* mesh, bool complex, int vectors, void* values) = 0;
  virtual void gradient(const void* mesh, bool complex, int vectors, void* gradients) = 0;
  [[nodiscard]] virtual std::size_t points() const = 0;
  [[nodiscard]] virtual std::string method() const = 0;
};

struct transform_settings {
  std::vector<int> modes{};
  double tolerance = 1e-6;
  bool real = false;
  bool centered = true;
  std::vector<double> period{};  ///< by axis; 0: 2 pi
  double oversampling = 0;
  std::string method{};
};

/// Transforms of type 1 and 2. Values (V, N), real or complex as in the settings; modes (V, K...), complex.
class transform : public worker {
 public:
  virtual void set_points(const points_given& points) = 0;
  /// Throws data_error for points that a replay of a graph was given.
  virtual void check() = 0;
  virtual void type_1(const void* values, int vectors, int sign, void* modes) = 0;
  virtual void type_2(const void* modes, int vectors, int sign, void* values) = 0;
  [[nodiscard]] virtual std::size_t points() const = 0;
  [[nodiscard]] virtual double error_bound() const = 0;
};

/// Where results go, in the memory of the device; null: not wanted. Energies and virials are doubles, by system.
struct ewald_results {
  void* energy = nullptr;
  void* forces = nullptr;
  void* potentials = nullptr;
  void* virial = nullptr;
};

class ewald_sums : public worker {
 public:
  virtual void compute(const points_given& points, const void* charges, const boxes_given& cells,
                       const integers& systems, const std::vector<scaled_pair>& pairs,
                       const ewald_results& results) = 0;
  [[nodiscard]] virtual electrostatics_report report() const = 0;
};

/// Arrays by body; a null pointer: the one value for all, or none.
struct bodies_given {
  points_given centers{};
  int shape = 0;  ///< its number in body_shape_names
  integers shapes{};
  double radius = 0;
  const void* radii = nullptr;         ///< of spheres, (N,)
  const void* sizes = nullptr;         ///< (N, 3)
  const void* orientations = nullptr;  ///< (N, 4): w, x, y, z
  integers ids{};
  std::vector<double> planes{};  ///< on the host, by plane: normal, offset
};

/// A field of the records of contacts.
enum class contact_field : std::uint8_t { a, b, depth, normal, point_a, point_b, shift, feature };

class contact_search : public worker {
 public:
  virtual void build(const bodies_given& bodies) = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  virtual void write(contact_field field, bool long_indices, void* to) = 0;
  [[nodiscard]] virtual std::string method() const = 0;
};

/// Particles of cells: cell c, x fastest, holds indices[offsets[c]] to indices[offsets[c + 1] - 1].
class cell_search : public worker {
 public:
  virtual void build(const points_given& points) = 0;
  /// Along each axis.
  [[nodiscard]] virtual std::vector<int> cells() const = 0;
  virtual void write_offsets(bool long_indices, void* to) = 0;
  virtual void write_points(bool long_indices, void* to) = 0;
};

/// An axis-aligned box. Without lengths: open, around whatever comes.
struct domain_given {
  std::vector<double> lower{}, length{};
  std::vector<unsigned char> periodic{};
};

struct nearest_settings {
  std::size_t k = 1;
  double cutoff = 0;
  bool include_self = false;
};

/// Results that are not wanted are null. Shape (rows, k), shifts (rows, k, D).
struct nearest_results {
  void* neighbors = nullptr;
  void* distances = nullptr;
  void* shifts = nullptr;
};

/// How many clusters there are, and points in them.
struct cluster_counts {
  std::size_t clusters;
  std::size_t members;
};

/// Keys int32, uint32, int64 or uint64; values (N, C) of int32, int64, float32 or float64.
struct reduction {
  const void* keys = nullptr;
  number key_type = number::int64;
  std::size_t count = 0;
  std::uint64_t key_count = 0;
  const void* values = nullptr;  ///< null: counts, as int64
  number value_type = number::float64;
  int components = 1;
  int operation = 0;  ///< its number in key_operation_names
  std::string method{};
  bool compensated = false;
};

/// What replaces values of a scene's file; empty: as in the file.
struct scene_settings {
  std::string file{}, device{}, method{}, precision{}, deterministic{}, output{};
  std::optional<bool> autotune{};
  std::optional<std::int64_t> steps{}, particles{}, threads{}, seed{}, frame_every{}, statistics_every{};
};

/// An array of values of particles, on the host.
struct state_array {
  std::string name{};
  number type = number::float32;  ///< float32, float64 or uint32
  std::vector<std::size_t> shape{};
  std::vector<std::byte> bytes{};
};

/// The particles as files of frames hold them, in order of id.
struct scene_frame {
  std::vector<state_array> arrays{};
  std::vector<double> lower{}, upper{};
  std::vector<unsigned char> periodic{};
};

struct scene_facts {
  std::string name{}, particles{}, precision{}, method{}, device{};
  std::string settings{};  ///< JSON: every key of the scene with its value
  std::uint64_t steps = 0;
  std::int64_t frame_every = 0, statistics_every = 0;
  double time_step = 1;
};

/// The simulation of a scene.
class scene_run {
 public:
  scene_run() = default;
  scene_run(const scene_run&) = delete;
  scene_run& operator=(const scene_run&) = delete;
  virtual ~scene_run() = default;
  [[nodiscard]] virtual scene_facts facts() const = 0;
  virtual void advance(std::uint64_t steps) = 0;
  [[nodiscard]] virtual std::uint64_t step() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::vector<state_array> state() = 0;
  [[nodiscard]] virtual scene_frame frame() = 0;
  [[nodiscard]] virtual std::vector<std::pair<std::string, double>> measure() = 0;
  /// Begins to write what `quadrat run` writes, into the folder of the settings; then `record` writes what is due at
  /// the present step, and `end_record` the rest: of a run that has come to its end, or was stopped.
  virtual void begin_record(bool overwrite) = 0;
  virtual void record() = 0;
  virtual void end_record(bool complete) = 0;
};

/// What needs no state.
class session : public worker {
 public:
  virtual void nearest(bool wide, int dimension, const points_given& points, const points_given& queries,
                       const boxes_given& box, const nearest_settings& settings, bool long_indices,
                       const nearest_results& results) = 0;
  /// With `members`, `write_members` may follow.
  virtual cluster_counts clusters(bool wide, int dimension, const points_given& points, const boxes_given& box,
                                  double cutoff, std::uint32_t min_points, bool long_indices, void* labels,
                                  bool members) = 0;
  /// Of the last clusters: where the rows of members begin, with the end, the members, and (clusters, D) centers.
  virtual void write_members(bool long_indices, void* offsets, void* members, void* centers) = 0;
  virtual void reduce(const reduction& wanted, void* results) = 0;
  virtual void type_3(bool wide, int dimension, const points_given& points, const points_given& targets,
                      const void* values, int vectors, double tolerance, int sign, void* results) = 0;
  /// The largest; -1 for none. Unsigned ones above the largest int64 count as that.
  [[nodiscard]] virtual std::int64_t largest(const integers& values) = 0;
  virtual void to_host(const void* from, void* to, std::size_t bytes) = 0;
};

/// `wide`: float64 instead of float32.
class backend {
 public:
  backend() = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  virtual ~backend() = default;
  [[nodiscard]] virtual std::unique_ptr<neighbor_search> make_neighbor_search(const place& where, bool wide,
                                                                              int dimension,
                                                                              const neighbor_settings& settings) = 0;
  [[nodiscard]] virtual std::unique_ptr<histogram> make_histogram(const place& where, bool wide, int dimension,
                                                                  const histogram_settings& settings) = 0;
  [[nodiscard]] virtual std::unique_ptr<spreading> make_spreading(const place& where, bool wide,
                                                                  const spread_settings& settings) = 0;
  [[nodiscard]] virtual std::unique_ptr<transform> make_transform(const place& where, bool wide,
                                                                  const transform_settings& settings) = 0;
  [[nodiscard]] virtual std::unique_ptr<ewald_sums> make_ewald(const place& where, bool wide,
                                                               const electrostatics_options& options) = 0;
  [[nodiscard]] virtual std::unique_ptr<contact_search> make_contact_search(const place& where, bool wide,
                                                                            const domain_given& domain,
                                                                            const std::string& method, bool sorted,
                                                                            double bin_size) = 0;
  /// `cells`: along each axis; empty: as fine as the cutoff allows.
  [[nodiscard]] virtual std::unique_ptr<cell_search> make_cell_search(const place& where, bool wide,
                                                                      const domain_given& domain,
                                                                      const std::vector<int>& cells, double cutoff,
                                                                      bool accept_outside) = 0;
  [[nodiscard]] virtual std::unique_ptr<session> make_session(const place& where) = 0;
  /// Devices of this kind on this machine.
  [[nodiscard]] virtual std::size_t devices() = 0;
  /// Names of the methods that this backend has, without those that exist to be timed.
  [[nodiscard]] virtual std::vector<std::string> methods(method_task task) = 0;
  /// What would be chosen on the device.
  [[nodiscard]] virtual explanation choose(const place& where, method_task task, const described_load& load) = 0;
  /// Throws argument_error in builds without the program, whose libraries scenes need.
  [[nodiscard]] virtual std::unique_ptr<scene_run> open_scene(const scene_settings& settings) = 0;
  /// Memory of a device that belongs to no library: for results of libraries that cannot make empty arrays. Freeing
  /// waits for all work of the device, which may still use it.
  [[nodiscard]] virtual void* allocate(int device, std::size_t bytes) = 0;
  virtual void deallocate(int device, void* memory) noexcept = 0;
};

/// Of this build's CPU.
[[nodiscard]] backend& cpu_backend();
/// Where work on CPUs takes its memory from; null: host_memory().
[[nodiscard]] memory_resource*& cpu_memory();

}  // namespace quadrat::python
