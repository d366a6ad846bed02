// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "mpi/file.hpp"
#include "mpi/zoltan.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

void check_mpi(int code, const char* action) {
  if (code == MPI_SUCCESS) return;
  char words[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, words, &length);
  throw backend_error(message("MPI: ", action, ": ", static_cast<const char*>(words)));
}

/// Whether MPI accepts pointers to device memory.
[[nodiscard]] bool takes_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

class mpi_communicator final : public communicator, public detail::box_partitioner {
 public:
  explicit mpi_communicator(MPI_Comm given) : direct_(takes_device_memory()) {
    check_mpi(MPI_Comm_dup(given, &comm_), "duplicating a communicator");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~mpi_communicator() override { MPI_Comm_free(&comm_); }
  mpi_communicator(const mpi_communicator&) = delete;
  mpi_communicator& operator=(const mpi_communicator&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::string name() const override { return "mpi"; }

  void barrier() override { check_mpi(MPI_Barrier(comm_), "waiting for all ranks"); }
  void all_gather(const void* mine, void* all, std::size_t bytes) override {
    const int count = piece_length(bytes);
    check_mpi(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_), "gathering");
  }
  void all_to_all(const void* sent, void* received, std::size_t bytes) override {
    const int count = piece_length(bytes);
    check_mpi(MPI_Alltoall(sent, count, MPI_BYTE, received, count, MPI_BYTE, comm_), "exchanging with all");
  }
  void add_up(std::uint64_t* values, std::size_t count) override {
    for (std::size_t first = 0; first < count; first += longest) {
      const int length = static_cast<int>(std::min(longest, count - first));
      check_mpi(MPI_Allreduce(MPI_IN_PLACE, values + first, length, MPI_UINT64_T, MPI_SUM, comm_), "adding up");
    }
  }

  [[nodiscard]] std::unique_ptr<shared_file> open_shared(const std::string& path, const std::string& name) override {
    return detail::open_mpi_file(comm_, path, name);
  }

  [[nodiscard]] std::vector<detail::part_box> partition(int dimensions, std::span<const double> places,
                                                        std::span<const float> weights) override {
    std::uint64_t all = weights.size();
    add_up(&all, 1);
    // Zoltan prints warnings if there is nothing to divide.
    return all == 0 ? std::vector<detail::part_box>() : detail::partition_by_zoltan(comm_, dimensions, places, weights);
  }

  void start(const cpu_context&, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override {
    count(sends);
    post(sends, receives);
  }
  void finish(const cpu_context&) override {
    const int number = static_cast<int>(requests_.size());
    const int code = MPI_Waitall(number, requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    check_mpi(code, "exchanging messages");
  }
  void start(const cuda_context& context, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override {
    if (!direct_) {
      communicator::start(context, sends, receives);
      return;
    }
    // MPI does not know the stream.
    context.synchronize();
    start(cpu_context(), sends, receives);
  }
  void finish(const cuda_context& context) override {
    if (direct_) {
      finish(cpu_context());
    } else {
      communicator::finish(context);
    }
  }

 private:
  /// MPI's counts are int: longer messages are sent in pieces.
  static constexpr std::size_t longest = std::size_t{1} << 30;
  static constexpr int tag = 1;

  [[nodiscard]] static int piece_length(std::size_t bytes) {
    require(bytes <= longest, "a piece has ", bytes, " bytes; at most ", longest, " are possible");
    return static_cast<int>(bytes);
  }
  /// Calls f(first byte, bytes) for the pieces of a message.
  template <typename F>
  static void for_each_piece(std::size_t bytes, const F& f) {
    for (std::size_t first = 0; first < bytes; first += longest) {
      f(first, static_cast<int>(std::min(longest, bytes - first)));
    }
  }
  void post(std::span<const outgoing_message> sends, std::span<const incoming_message> receives) {
    for (const incoming_message& one : receives) {
      for_each_piece(one.bytes, [&](std::size_t first, int bytes) {
        check_mpi(MPI_Irecv(static_cast<std::byte*>(one.data) + first, bytes, MPI_BYTE, one.from, tag, comm_,
                            &requests_.emplace_back()),
                  "receiving");
      });
    }
    for (const outgoing_message& one : sends) {
      for_each_piece(one.bytes, [&](std::size_t first, int bytes) {
        check_mpi(MPI_Isend(static_cast<const std::byte*>(one.data) + first, bytes, MPI_BYTE, one.to, tag, comm_,
                            &requests_.emplace_back()),
                  "sending");
      });
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  bool direct_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<MPI_Request> requests_;
};

}  // namespace

mpi_session::mpi_session() {
  int started = 0, ended = 0, level = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started != 0 || ended != 0) throw backend_error("MPI has been initialized before; use make_mpi_communicator");
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "initializing");
  ranks_ = std::make_unique<mpi_communicator>(MPI_COMM_WORLD);
}

mpi_session::~mpi_session() {
  ranks_.reset();
  MPI_Finalize();
}

void mpi_session::abort(const std::string& words) {
  std::fprintf(stderr, "quadrat: rank %d of %d: %s\n", ranks_->rank(), ranks_->size(), words.c_str());
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

std::unique_ptr<communicator> make_mpi_communicator(const void* mpi_comm) {
  require(mpi_comm != nullptr, "the pointer to the MPI communicator is null");
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0) throw backend_error("MPI is not initialized");
  return std::make_unique<mpi_communicator>(*static_cast<const MPI_Comm*>(mpi_comm));
}

void run_under_mpi(const std::function<void(communicator&)>& body) {
  mpi_session session;
  std::string words;
  try {
    body(session.ranks());
    return;
  } catch (const std::exception& problem) {
    words = problem.what();
  } catch (...) {
    words = "an exception without words";
  }
  // Rank 0 prints the same error and ends all ranks. If it does not, the others do so after a while.
  if (session.ranks().agreed_to_fail() && session.ranks().rank() != 0) {
    std::this_thread::sleep_for(std::chrono::seconds(5));
  }
  session.abort(words);
}

}  // namespace quadrat
