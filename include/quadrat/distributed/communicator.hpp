// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"

/// Ranks that share out the work: processes under MPI, or threads of one process, each with a context of its own.
namespace quadrat {

/// Bytes for another rank (or for the sender itself).
struct outgoing_message {
  int to;
  const void* data;
  std::size_t bytes;
};

/// Room for bytes of another rank. The number of bytes is exactly the sender's.
struct incoming_message {
  int from;
  void* data;
  std::size_t bytes;
};

/// A file into which all ranks write, each what no other writes.
class shared_file {
 public:
  virtual ~shared_file() = default;
  /// Not collective: a rank writes as often as it has something. Throws io_error.
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// What this rank has written is on disk. Collective. Throws io_error.
  virtual void flush() = 0;
};

/// A rank could not go on, and took the others with it. Names that rank.
class rank_error : public error {
 public:
  rank_error(int rank, const std::string& words);
  [[nodiscard]] int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

/// One rank's view of a group of ranks, numbered from 0. Every function that is not const is collective: all ranks call
/// the same functions in the same order. One thread uses a communicator at a time. When a rank fails or dies, the calls
/// of the others throw rank_error or end the process; none waits forever.
///
/// Messages between two ranks arrive in the order in which both list them; ranks list none of zero bytes. Until
/// `finish`, buffers must not be touched, and no second exchange be started.
class communicator {
 public:
  virtual ~communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// "self", "threads", "mpi", "nccl".
  [[nodiscard]] virtual std::string name() const = 0;

  virtual void barrier() = 0;
  /// all[r] = mine of rank r; `bytes` each, the same on every rank. Host memory.
  virtual void all_gather(const void* mine, void* all, std::size_t bytes) = 0;
  /// Piece p of `received`, `bytes` long, is piece rank() of what rank p sends. Host memory.
  virtual void all_to_all(const void* sent, void* received, std::size_t bytes) = 0;
  /// values[i] = the sum over all ranks, modulo 2^64. Host memory.
  virtual void add_up(std::uint64_t* values, std::size_t count) = 0;

  /// Starts to exchange messages in memory of the context's device. On CUDA in order of the context's stream: messages
  /// hold what was enqueued before, and later work of the stream must wait for `finish`.
  virtual void start(const cpu_context& context, std::span<const outgoing_message> sends,
                     std::span<const incoming_message> receives) = 0;
  /// By default staged through host memory, which synchronizes.
  virtual void start(const cuda_context& context, std::span<const outgoing_message> sends,
                     std::span<const incoming_message> receives);
  /// Ends it: what was received may be read by the stream, and what was sent may be overwritten.
  virtual void finish(const cpu_context& context) = 0;
  virtual void finish(const cuda_context& context);

  /// Opens a file that is there for writing by all ranks; destroying it is collective, too. The file system must be the
  /// same for all. Under MPI by MPI's files. `name`: of the file in errors. Throws io_error on ranks that cannot.
  [[nodiscard]] virtual std::unique_ptr<shared_file> open_shared(const std::string& path, const std::string& name);

  template <typename Context>
  void exchange(const Context& context, std::span<const outgoing_message> sends,
                std::span<const incoming_message> receives) {
    start(context, sends, receives);
    finish(context);
  }

  /// Bytes that this rank has sent to others in exchanges.
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }
  /// Whether the last `agree` threw, and so on all ranks.
  [[nodiscard]] bool agreed_to_fail() const { return agreed_to_fail_; }

 protected:
  /// To be called by `start`.
  void count(std::span<const outgoing_message> sends);

 private:
  std::vector<std::byte> staged_out_, staged_in_;
  std::vector<incoming_message> staged_;
  friend void agree(communicator&, const std::exception_ptr&);

  std::uint64_t bytes_sent_ = 0;
  bool agreed_to_fail_ = false;
};

/// A group of one rank.
class self_communicator final : public communicator {
 public:
  using communicator::finish;
  using communicator::start;

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::string name() const override { return "self"; }
  void barrier() override {}
  void all_gather(const void* mine, void* all, std::size_t bytes) override;
  void all_to_all(const void* sent, void* received, std::size_t bytes) override { all_gather(sent, received, bytes); }
  void add_up(std::uint64_t*, std::size_t) override {}
  void start(const cpu_context& context, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override;
  void start(const cuda_context& context, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override;
  void finish(const cpu_context&) override {}
  void finish(const cuda_context&) override {}
};

/// A value of every rank, by rank. Collective.
template <typename T>
[[nodiscard]] std::vector<T> all_values(communicator& ranks, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<std::size_t>(ranks.size()), mine);
  ranks.all_gather(&mine, all.data(), sizeof(T));
  return all;
}

/// The sum over ranks, taken in order of rank: the same bits on every rank and in every run. Collective.
[[nodiscard]] double sum_in_rank_order(communicator& ranks, double mine);

/// Throws on every rank if `problem` is set on any: the error of the rank with the smallest data_error::index, or else
/// of the smallest rank. That rank gets its own exception; others one of the same type with the same words, or
/// rank_error, which names the rank, for types that are not of this library. Collective.
void agree(communicator& ranks, const std::exception_ptr& problem);

/// Calls f(), which may throw on any rank, but must not communicate; then `agree`. Collective.
template <typename F>
void together(communicator& ranks, F&& f) {
  std::exception_ptr problem;
  try {
    std::forward<F>(f)();
  } catch (...) {
    problem = std::current_exception();
  }
  agree(ranks, problem);
}

}  // namespace quadrat
