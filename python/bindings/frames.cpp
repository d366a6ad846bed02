// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/frames.hpp"

namespace quadrat::python {

namespace {

template <typename Value>
[[nodiscard]] nb::object new_array(number type, std::vector<std::size_t> shape, const Value* values,
                                   std::size_t count) {
  results made({});
  void* const memory = made.add(type, shape);
  if (count > 0) std::memcpy(memory, values, count * sizeof(Value));
  return made.take(0);
}

/// The values of a column by atom: an array, or of words a list.
[[nodiscard]] nb::object values_of(const io::frame_field& field, std::size_t atoms) {
  std::vector<std::size_t> shape{atoms};
  if (field.width > 1) shape.push_back(field.width);
  if (field.kind == 'R') return new_array(number::float64, shape, field.reals.data(), field.reals.size());
  if (field.kind != 'S') return new_array(number::int64, shape, field.integers.data(), field.integers.size());
  nb::list words;
  for (const std::string& word : field.words) {
    words.append(nb::steal(PyUnicode_DecodeUTF8(word.data(), static_cast<Py_ssize_t>(word.size()), "replace")));
  }
  return words;
}

[[nodiscard]] nb::dict as_dict(const io::file_frame& frame) {
  const std::size_t atoms = frame.positions.size();
  nb::dict result;
  result["line"] = frame.comment_line;
  result["positions"] = new_array(number::float64, {atoms, 3}, frame.positions.data(), atoms);
  nb::list fields;
  for (const io::frame_field& field : frame.fields) {
    fields.append(nb::make_tuple(field.name, std::string(1, field.kind), field.width, values_of(field, atoms)));
  }
  result["fields"] = fields;
  result["lattice"] = frame.lattice ? new_array(number::float64, {3, 3}, &*frame.lattice, 1) : nb::object(nb::none());
  result["origin"] = new_array(number::float64, {3}, &frame.origin, 1);
  result["periodic"] = nb::make_tuple(frame.periodic[0], frame.periodic[1], frame.periodic[2]);
  result["step"] = frame.step ? nb::object(nb::int_(*frame.step)) : nb::object(nb::none());
  result["time"] = frame.time ? nb::object(nb::float_(*frame.time)) : nb::object(nb::none());
  return result;
}

/// The frames of an extended .xyz or a .gsd file.
class frames_of_file {
 public:
  explicit frames_of_file(const std::string& file)
      : reader_(unlocked([&] { return io::open_frames(file, {.fields = true}); })) {}

  /// None at the end. What is wrong with the text is a ValueError: the file itself could be read.
  [[nodiscard]] nb::object next() {
    const turn mine(mutex_);
    io::file_frame frame;
    try {
      if (!unlocked([&] { return reader_->next(frame); })) return nb::none();
    } catch (const io_error& problem) {
      throw nb::value_error(problem.what());
    }
    return as_dict(frame);
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<io::frame_reader> reader_;
};

}  // namespace

void add_frames(nb::module_& module) {
  nb::class_<frames_of_file>(module, "FramesOfFile")
      .def(nb::init<const std::string&>())
      .def("next", &frames_of_file::next);
}

}  // namespace quadrat::python
