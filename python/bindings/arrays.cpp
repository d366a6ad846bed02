// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"

#include <algorithm>
#include <cstring>

#include "modules_of_python.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

constexpr int dlpack_cpu = 1, dlpack_cuda = 2, dlpack_cuda_host = 3, dlpack_managed = 13;

struct type_name {
  number type;
  const char* name;
};
constexpr type_name type_names[] = {
    {number::boolean, "bool"},    {number::int32, "int32"},         {number::int64, "int64"},
    {number::uint32, "uint32"},   {number::uint64, "uint64"},       {number::float32, "float32"},
    {number::float64, "float64"}, {number::complex64, "complex64"}, {number::complex128, "complex128"}};

[[nodiscard]] number type_named(std::string_view name) {
  for (const type_name& known : type_names) {
    if (name == known.name) return known.type;
  }
  return number::other;
}

[[nodiscard]] number type_of(nb::dlpack::dtype type) {
  using code = nb::dlpack::dtype_code;
  if (type.lanes != 1) return number::other;
  const auto is = [&](code wanted, int bits) {
    return type.code == static_cast<std::uint8_t>(wanted) && type.bits == bits;
  };
  if (is(code::Float, 64)) return number::float64;
  if (is(code::Float, 32)) return number::float32;
  if (is(code::Int, 64)) return number::int64;
  if (is(code::Int, 32)) return number::int32;
  if (is(code::UInt, 64)) return number::uint64;
  if (is(code::UInt, 32)) return number::uint32;
  if (is(code::Complex, 128)) return number::complex128;
  if (is(code::Complex, 64)) return number::complex64;
  return type.code == static_cast<std::uint8_t>(code::Bool) ? number::boolean : number::other;
}

/// str(value.dtype) without "torch.".
[[nodiscard]] std::string dtype_text(nb::handle value) {
  if (!nb::hasattr(value, "dtype")) return nb::cast<std::string>(nb::str(nb::handle(value.type()).attr("__name__")));
  std::string text = nb::cast<std::string>(nb::str(nb::object(value.attr("dtype"))));
  return text.rfind("torch.", 0) == 0 ? text.substr(6) : text;
}

[[nodiscard]] library library_of(nb::handle value) {
  const python_modules& modules = python_modules::get();
  if (value.type().is(modules.numpy_array)) return library::numpy;
  const nb::object module = nb::getattr(value.type(), "__module__", nb::none());
  const char* const name = PyUnicode_Check(module.ptr()) ? nb::cast<const char*>(module) : "";
  const auto begins = [&](const char* prefix) { return std::strncmp(name, prefix, std::strlen(prefix)) == 0; };
  if (begins("torch")) return library::torch;
  if (begins("cupy")) return library::cupy;
  if (begins("jax")) return library::jax;
  if (begins("numpy")) return library::numpy;
  return nb::hasattr(value, "__dlpack_device__") ? library::other : library::numpy;
}

[[nodiscard]] std::string place_text(int device) {
  return device < 0 ? std::string("CPU memory") : message("the memory of GPU ", device);
}

[[nodiscard]] nb::object converted_by(library owner, const nb::object& value, number type) {
  const std::string name(name_of(type));
  if (owner == library::torch) return value.attr("to")(nb::module_::import_("torch").attr(name.c_str()));
  return value.attr("astype")(name.c_str());
}

}  // namespace

double& work_seconds() {
  static thread_local double seconds = 0;
  return seconds;
}

std::string_view name_of(number type) {
  for (const type_name& known : type_names) {
    if (known.type == type) return known.name;
  }
  return "another type";
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (std::size_t k = 0; k < shape.size(); ++k) text += (k > 0 ? ", " : "") + std::to_string(shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

int c_type(number type) {
  constexpr int known[] = {
      0, QUADRAT_INT32, QUADRAT_INT64, QUADRAT_UINT32, QUADRAT_UINT64, QUADRAT_FLOAT32, QUADRAT_FLOAT64, 0, 0, 0};
  return known[static_cast<std::size_t>(type)];
}

place origin_of_arrays::at(int threads, int level) const {
  return {on_gpu() ? &cuda_functions() : &cpu_functions(), device, threads, level};
}

bool origin_of_arrays::long_indices() const {
  if (owner != library::jax) return true;
  return nb::cast<bool>(nb::module_::import_("jax").attr("config").attr("jax_enable_x64"));
}

origin_of_arrays origin_of(nb::handle value, const char* name) {
  origin_of_arrays result;
  result.owner = library_of(value);
  if (result.owner == library::numpy) return result;
  if (result.owner == library::torch) {
    if (nb::cast<bool>(value.attr("is_cuda"))) {
      result.device = nb::cast<int>(value.attr("get_device")());
    } else if (!nb::cast<bool>(value.attr("is_cpu"))) {
      throw nb::type_error(message(name, " are on the device ",
                                   nb::cast<std::string>(nb::str(nb::object(value.attr("device")))),
                                   "; CPUs and CUDA are served")
                               .c_str());
    }
    return result;
  }
  if (!nb::hasattr(value, "__dlpack_device__")) return result;
  const nb::object where = value.attr("__dlpack_device__")();
  if (!nb::isinstance<nb::tuple>(where) || nb::len(where) != 2) {
    throw nb::type_error(message(name, " cannot be read as an array: its __dlpack_device__ is no pair").c_str());
  }
  const int kind = nb::cast<int>(nb::int_(nb::object(where[0])));
  if (kind == dlpack_cuda || kind == dlpack_managed) {
    result.device = nb::cast<int>(nb::int_(nb::object(where[1])));
  } else if (kind != dlpack_cpu && kind != dlpack_cuda_host) {
    throw nb::type_error(
        message(name, " are in the memory of a device that is not served (DLPack's type ", kind, "); CPUs and CUDA are")
            .c_str());
  }
  return result;
}

namespace {

/// Refuses what an array says beside its numbers and results would not have: masks and derivatives. Refuses tensors
/// that are not dense.
void check_all_is_read(nb::handle value, const char* name, library owner) {
  const auto refuse = [name](const char* words) { throw nb::value_error(message(name, words).c_str()); };
  const python_modules& modules = python_modules::get();
  if (owner == library::numpy && !value.type().is(modules.numpy_array) && nb::hasattr(value, "mask")) {
    const nb::object mask = value.attr("mask");
    if (!PyCallable_Check(mask.ptr()) && nb::cast<bool>(nb::bool_(modules.numpy.attr("any")(mask)))) {
      refuse(": masked elements would count; select the others with .compressed(), or fill them with .filled(value)");
    }
  }
  if (owner != library::torch) return;
  const torch_modules& torch = torch_modules::get();
  if (!nb::object(value.attr("layout")).is(torch.strided) || nb::cast<bool>(value.attr("is_nested"))) {
    throw nb::type_error(message(name, " cannot be read: a sparse or nested tensor; dense ones are accepted").c_str());
  }
  const bool backward = nb::cast<bool>(value.attr("requires_grad")) && nb::cast<bool>(torch.is_grad_enabled());
  if (backward || !nb::object(torch.unpack_dual(value).attr("tangent")).is_none()) {
    refuse(
        ": derivatives are needed, and the results would have none; use the functions of quadrat.torch, or .detach()");
  }
}

/// What NumPy reads as an array.
[[nodiscard]] nb::object as_numpy(nb::handle value, const char* name) {
  try {
    return python_modules::get().numpy.attr("asarray")(value);
  } catch (nb::python_error& problem) {
    if (!problem.matches(PyExc_ValueError)) throw;
    const std::string words = nb::cast<std::string>(nb::str(problem.value()));
    throw nb::value_error(message(name, " cannot be read as an array: ", words).c_str());
  }
}

}  // namespace

given_array::given_array(nb::handle value, const char* name, const origin_of_arrays& where)
    : value_(nb::borrow(value)), name_(name), where_(where) {
  const origin_of_arrays own = origin_of(value, name);
  check_all_is_read(value, name, own.owner);
  if (own.device != where.device) {
    throw nb::value_error(message(name, " are in ", place_text(own.device), ", the other arrays of the call in ",
                                  place_text(where.device), "; one device for all is needed")
                              .c_str());
  }
  where_.owner = own.owner;
  if (where_.on_gpu() || where_.owner == library::torch) {
    look();
  } else {
    import_on_cpu();
  }
}

void given_array::refuse() const {
  throw nb::type_error(
      message(name_, " cannot be read as an array of numbers: ", nb::cast<std::string>(nb::str(value_.type())),
              nb::hasattr(value_, "dtype") ? " of the type " + dtype_text(value_) : std::string())
          .c_str());
}

void given_array::import_on_cpu() {
  const python_modules& modules = python_modules::get();
  if (where_.owner == library::numpy && !value_.type().is(modules.numpy_array)) {
    const bool array = nb::hasattr(value_, "dtype");
    value_ = as_numpy(value_, name_);
    from_numbers_ = !array;
  }
  if (!nb::try_cast(value_, held_)) {
    // What DLPack cannot say: another byte order, and fields of packed records, whose strides are no multiples of an
    // element.
    if (where_.owner != library::numpy) refuse();
    const nb::object type = value_.attr("dtype").attr("newbyteorder")("=");
    value_ = modules.numpy.attr("require")(value_, type, "CA");
    if (!nb::try_cast(value_, held_)) refuse();
  }
  type_ = type_of(held_.dtype());
  shape_.clear();
  for (std::size_t k = 0; k < held_.ndim(); ++k) shape_.push_back(held_.shape(k));
  data_ = held_.data();
}

/// Type and shape from attributes: the memory can only be asked for with the stream that will use it.
void given_array::look() {
  type_ = type_named(dtype_text(value_));
  shape_.clear();
  for (const nb::handle extent : nb::object(value_.attr("shape"))) shape_.push_back(nb::cast<std::size_t>(extent));
}

bool given_array::integer() const {
  if (type_ <= number::uint64) return true;
  if (type_ != number::other) return false;
  const std::string text = type_text();
  return text.rfind("int", 0) == 0 || text.rfind("uint", 0) == 0;
}

std::string given_array::type_text() const { return dtype_text(value_); }

std::size_t given_array::size() const {
  std::size_t size = 1;
  for (const std::size_t extent : shape_) size *= extent;
  return size;
}

void given_array::convert(number type) {
  if (type == type_) return;
  value_ = converted_by(where_.owner, value_, type);
  const std::vector<std::size_t> shape = shape_;
  if (where_.on_gpu() || where_.owner == library::torch) {
    look();
  } else {
    const bool numbers = from_numbers_;
    import_on_cpu();
    from_numbers_ = numbers;
  }
  shape_ = shape;
}

bool given_array::contiguous() const {
  if (reinterpret_cast<std::uintptr_t>(held_.data()) % held_.itemsize() != 0) return false;
  std::int64_t expected = 1;
  if (held_.size() <= 1) return true;
  for (std::size_t k = held_.ndim(); k-- > 0;) {
    if (held_.shape(k) != 1 && held_.stride(k) != expected) return false;
    expected *= static_cast<std::int64_t>(held_.shape(k));
  }
  return true;
}

void given_array::make_contiguous() {
  if (!where_.on_gpu()) {
    value_ = python_modules::get().numpy.attr("require")(value_, nb::none(), "CA");  // C order, aligned
  } else if (where_.owner == library::cupy) {
    value_ = nb::module_::import_("cupy").attr("ascontiguousarray")(value_);
  } else {
    throw nb::value_error(message(name_, " are not C-ordered; pass a C-ordered copy").c_str());
  }
}

void given_array::import(std::uintptr_t stream) {
  if (!where_.on_gpu()) {
    held_ = nb::cast<nb::ndarray<nb::ro>>(value_);
  } else {
    nb::object capsule;
    try {
      capsule = value_.attr("__dlpack__")(nb::arg("stream") = stream);
    } catch (nb::python_error& problem) {  // what is read-only is exported by the newer protocol alone
      if (!problem.matches(PyExc_BufferError)) throw;
      capsule = value_.attr("__dlpack__")(nb::arg("stream") = stream, nb::arg("max_version") = nb::make_tuple(1, 0));
    }
    try {
      held_ = nb::cast<nb::ndarray<nb::ro>>(capsule);
    } catch (const nb::cast_error&) {
      refuse();
    }
  }
  data_ = held_.data();
}

/// Without DLPack, which takes PyTorch ten times as long.
void given_array::import_tensor() {
  const auto is = [&](const char* property) { return nb::cast<bool>(value_.attr(property)()); };
  if (!is("is_contiguous") || is("is_neg") || is("is_conj")) {
    value_ = value_.attr("detach")().attr("resolve_conj")().attr("resolve_neg")().attr("contiguous")();
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  data_ = reinterpret_cast<const void*>(nb::cast<std::uintptr_t>(value_.attr("data_ptr")()));
  if (data_ == nullptr && size() > 0) refuse();
}

void given_array::receive(worker& reader) {
  if (where_.owner == library::torch) {
    import_tensor();
    // After what may have been copied.
    if (where_.on_gpu()) reader.wait_for(torch_modules::get().stream_of(where_.device));
    return;
  }
  if (where_.on_gpu()) import(reader.stream());
  if (contiguous()) return;
  make_contiguous();
  import(reader.stream());
}

void given_array::receive_on_host() {
  if (where_.owner == library::torch) return import_tensor();
  if (contiguous()) return;
  make_contiguous();
  import(0);
}

namespace {

[[noreturn]] void refuse_type(const given_array& array) {
  throw nb::type_error(message(array.name(), " has the type ", array.type_text(), "; numbers are accepted").c_str());
}

}  // namespace

given_array floats(nb::handle value, const char* name, const origin_of_arrays& where, std::optional<number> type) {
  given_array result(value, name, where);
  const bool real = result.type() != number::other && result.type() != number::boolean && !is_complex(result.type());
  if (result.from_numbers() && (real || result.size() == 0)) result.convert(type.value_or(number::float64));
  if (result.type() != number::float32 && result.type() != number::float64) {
    throw nb::type_error(
        message(name, " have the type ", result.type_text(), "; float32 and float64 are accepted").c_str());
  }
  if (type && result.type() != *type) {
    const bool points = std::string_view(name) == "points";
    throw nb::type_error(message(name, " have the type ", name_of(result.type()), "; ", name_of(*type), " is needed, ",
                                 points ? "the dtype of the plan" : "as the points have")
                             .c_str());
  }
  return result;
}

given_array points_from(nb::handle value, const origin_of_arrays& where, int least, const char* name,
                        std::optional<number> type, int dimension) {
  given_array result = floats(value, name, where, type);
  const int lowest = dimension > 0 ? dimension : least, highest = dimension > 0 ? dimension : 3;
  if (result.dimension() == 1 && result.size() == 0) result.reshape({0, static_cast<std::size_t>(highest)});
  if (result.dimension() == 1 && lowest == 1) result.reshape({result.size(), 1});
  const bool fits = result.dimension() == 2 && result.shape()[1] >= static_cast<std::size_t>(lowest) &&
                    result.shape()[1] <= static_cast<std::size_t>(highest);
  if (!fits) {
    std::string wanted;
    for (int d = lowest; d <= highest; ++d) wanted += message(d > lowest ? " or " : "", "(N, ", d, ")");
    throw nb::value_error(
        message(name, " have the shape ", shape_text(result.shape()), "; ", wanted, " is accepted").c_str());
  }
  return result;
}

std::optional<given_array> indices_from(nb::handle value, const char* name, std::size_t count,
                                        const origin_of_arrays& where, const char* of) {
  if (value.is_none()) return std::nullopt;
  given_array result(value, name, where);
  const number type = result.type();
  if (type != number::int32 && type != number::int64 && type != number::uint32) {
    if ((!result.integer() || type == number::boolean) && result.size() > 0) {
      throw nb::type_error(message(name, " have the type ", result.type_text(), "; integers are accepted").c_str());
    }
    result.convert(number::int64);
  }
  if (result.dimension() != 1 || result.size() != count) {
    throw nb::value_error(message(name, " have the shape ", shape_text(result.shape()), "; one for each of the ", count,
                                  " ", of, " is needed")
                              .c_str());
  }
  return result;
}

std::int64_t largest_of(given_array& values, const place& where) {
  const std::unique_ptr<worker> reader = made_at<worker>(where);
  values.receive(*reader);
  const quadrat_integers integers = values.indices();
  std::int64_t largest = 0;
  unlocked([&] { reader->on_context(&c_functions::largest, &integers, &largest); });
  return largest;
}

host_numbers numbers_from(nb::handle value, const char* name) {
  const origin_of_arrays where = origin_of(value, name);
  check_all_is_read(value, name, where.owner);
  nb::object on_host = nb::borrow(value);
  if (where.owner == library::torch) {
    const given_array tensor(value, name, where);
    const bool floats = tensor.type_text().find("float") != std::string::npos;
    if (!floats && !tensor.integer()) refuse_type(tensor);
    on_host = on_host.attr("detach")().attr("to")("cpu", torch_modules::get().type_of(number::float64));
  }
  if (where.owner == library::cupy) on_host = on_host.attr("get")();
  on_host = as_numpy(on_host, name);
  given_array array(on_host, name, {});
  if (array.type() != number::float64) {
    const auto kind = nb::cast<std::string>(on_host.attr("dtype").attr("kind"));
    if (std::string_view("biuf").find(kind) == std::string_view::npos) refuse_type(array);
    on_host = on_host.attr("astype")("float64");
    array = given_array(on_host, name, {});
  }
  array.receive_on_host();
  const auto* const first = static_cast<const double*>(array.data());
  return {std::vector<double>(first, first + array.size()), array.shape()};
}

std::optional<bool> long_indices_from(nb::handle dtype) {
  if (dtype.is_none()) return std::nullopt;
  return nb::cast<std::string>(dtype) == "int64";
}

}  // namespace quadrat::python
