// The processes of one MPI launch. Only the files mpi_*.cpp know MPI's own names.
#pragma once
#include <cstdint>
#include <string>

namespace meshparity {

/// Made first in main and destroyed last.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Of one number a process; every process calls it, and it returns when all have.
  std::int64_t sum(std::int64_t value) const;
  /// `text` of process `root`, on every process.
  std::string text_of(int root, const std::string& text) const;
  /// Ends all processes of the launch.
  [[noreturn]] void abort(int exit_code) const;

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace meshparity
