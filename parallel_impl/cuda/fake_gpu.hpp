// For tests: a GPU that is none. fake_cuda.cpp and fake_cublas.cpp define the functions of CUDA and
// cuBLAS that the program uses over this, and a test is linked with them instead of the libraries.
// Work waits in its stream until something waits for the stream, and the host cannot touch the
// memory: whoever reads a result too early or by its address is found out without a GPU.
#pragma once
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace meshparity {

/// One a process, as the functions of CUDA have no other place for it.
class FakeGpu {
 public:
  static FakeGpu& get();

  /// Forgets planned failures, counts, and errors that stay.
  void reset();
  /// The nth call from now (1: the next) of this function returns `code`.
  void fail(const std::string& function, int nth, int code);
  /// The work of the nth launch from now does nothing, and all that waits for it fails from then
  /// on.
  void fail_in_launch(int nth, cudaError_t code);
  /// Nothing that lies in streams from now on is ever done.
  void stand_still() { stands_still_ = true; }
  bool is_standing_still() const { return stands_still_; }
  void set_devices(int count) { devices_ = count; }
  /// What its clock shows is how many launches and products have run.
  double clock() const { return clock_; }
  void pass_time() { ++clock_; }

  int calls(const std::string& function);
  std::size_t bytes_in_use();

  // What the fakes are made of. Every function counts itself first and returns what is not 0.
  int enter(const std::string& function);
  cudaError_t launch(cudaStream_t stream, std::function<void()> work);
  /// `ready`, asked with the memory open, holds a stream up for other streams; null: at once.
  void begin(cudaStream_t stream, std::function<void()> work, std::function<bool()> ready = {});
  /// Does all that lies in the stream, as far as it is ready; work of other streams only where this
  /// one is held up. cudaErrorNotReady when something is left.
  cudaError_t drain(cudaStream_t stream);
  cudaStream_t make_stream();
  void end_stream(cudaStream_t stream);
  void* allocate(std::size_t bytes);
  void release(void* data);
  bool owns(const void* data) const;
  void* allocate_pinned(std::size_t bytes);
  void release_pinned(void* data);
  bool is_pinned(const void* data);
  int devices() const { return devices_; }

 private:
  struct Planned {
    int left;
    int code;
  };
  struct Work {
    std::function<void()> run;
    std::function<bool()> ready;
  };
  using Queue = std::deque<Work>;
  FakeGpu();
  ~FakeGpu();
  void open(bool readable);
  bool advance(cudaStream_t stream);

  std::recursive_mutex lock_;
  std::byte* arena_ = nullptr;
  std::size_t used_ = 0;
  int opened_ = 0;
  std::map<void*, std::size_t> held_;
  std::multimap<std::size_t, void*> free_;
  std::vector<void*> undirtied_;  // to be filled with garbage when the memory is opened next
  std::map<void*, std::vector<std::byte>> pinned_;
  std::map<cudaStream_t, Queue> streams_;
  std::map<std::string, Planned> planned_;
  std::map<std::string, int> calls_;
  Planned in_launch_{0, 0};
  cudaError_t sticky_ = cudaSuccess;
  std::size_t streams_made_ = 0;
  int devices_ = 1;
  double clock_ = 0;  // milliseconds
  std::atomic<bool> stands_still_ = false;
};

}  // namespace meshparity
