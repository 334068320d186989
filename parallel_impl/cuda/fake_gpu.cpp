#include "parallel_impl/cuda/fake_gpu.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace meshparity {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{8} << 30;  // of addresses; pages as they are used
constexpr std::size_t kLine = 256;
constexpr int kGarbage = 0xA5;
constexpr std::size_t kDirtied = std::size_t{1} << 20;  // of a larger block its beginning will do

}  // namespace

FakeGpu& FakeGpu::get() {
  static FakeGpu gpu;
  return gpu;
}

FakeGpu::FakeGpu() {
  arena_ = static_cast<std::byte*>(
      mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

FakeGpu::~FakeGpu() {
  munmap(arena_, kArenaBytes);
}

void FakeGpu::reset() {
  const std::lock_guard lock(lock_);
  planned_.clear();
  calls_.clear();
  in_launch_ = {0, 0};
  sticky_ = cudaSuccess;
  stands_still_ = false;
  devices_ = 1;
}

void FakeGpu::fail(const std::string& function, int nth, int code) {
  const std::lock_guard lock(lock_);
  planned_[function] = {nth, code};
}

void FakeGpu::fail_in_launch(int nth, cudaError_t code) {
  const std::lock_guard lock(lock_);
  in_launch_ = {nth, code};
}

int FakeGpu::calls(const std::string& function) {
  const std::lock_guard lock(lock_);
  return calls_[function];
}

std::size_t FakeGpu::bytes_in_use() {
  const std::lock_guard lock(lock_);
  return std::accumulate(held_.begin(), held_.end(), std::size_t{0},
                         [](std::size_t sum, const auto& each) { return sum + each.second; });
}

int FakeGpu::enter(const std::string& function) {
  const std::lock_guard lock(lock_);
  ++calls_[function];
  const auto planned = planned_.find(function);
  if (planned != planned_.end() && --planned->second.left == 0) {
    return planned->second.code;
  }
  return function.starts_with("cuda") ? sticky_ : 0;
}

cudaError_t FakeGpu::launch(cudaStream_t stream, std::function<void()> work) {
  const std::lock_guard lock(lock_);
  if (const int code = enter("cudaLaunchKernel")) {
    return static_cast<cudaError_t>(code);
  }
  if (enter("launch that is lost") != 0) {
    work = [] {};
  }
  if (--in_launch_.left == 0) {
    const auto code = static_cast<cudaError_t>(in_launch_.code);
    work = [this, code] { sticky_ = code; };
  }
  begin(stream, [this, run = std::move(work)] {
    pass_time();
    run();
  });
  return cudaSuccess;
}

void FakeGpu::begin(cudaStream_t stream, std::function<void()> work, std::function<bool()> ready) {
  const std::lock_guard lock(lock_);
  streams_.at(stream).push_back({std::move(work), std::move(ready)});
}

// Whether anything was done. A work may begin others.
bool FakeGpu::advance(cudaStream_t stream) {
  bool moved = false;
  Queue& queue = streams_.at(stream);
  while (!queue.empty() && (!queue.front().ready || queue.front().ready())) {
    const Work work = std::move(queue.front());
    queue.pop_front();
    if (sticky_ == cudaSuccess) {
      work.run();
    }
    moved = true;
  }
  return moved;
}

// One stream at a time has the memory open, and with it its work.
cudaError_t FakeGpu::drain(cudaStream_t stream) {
  const std::lock_guard lock(lock_);
  if (stands_still_) {
    return cudaErrorNotReady;
  }
  if (streams_.at(stream).empty()) {
    return sticky_;
  }
  open(true);
  advance(stream);
  for (bool moved = true; moved && !streams_.at(stream).empty();) {
    moved = false;
    for (const auto& [other, queue] : streams_) {
      moved = advance(other) || moved;
    }
  }
  open(false);
  return streams_.at(stream).empty() ? sticky_ : cudaErrorNotReady;
}

void FakeGpu::open(bool readable) {
  opened_ += readable ? 1 : -1;
  const bool turns = opened_ == (readable ? 1 : 0);
  if (turns && used_ > 0) {
    mprotect(arena_, used_, readable ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
  for (void* const data : readable ? std::exchange(undirtied_, {}) : std::vector<void*>()) {
    const auto held = held_.find(data);
    std::memset(data, kGarbage, held == held_.end() ? 0 : std::min(held->second, kDirtied));
  }
}

cudaStream_t FakeGpu::make_stream() {
  const std::lock_guard lock(lock_);
  const auto stream = reinterpret_cast<cudaStream_t>(++streams_made_);
  streams_[stream];
  return stream;
}

void FakeGpu::end_stream(cudaStream_t stream) {
  const std::lock_guard lock(lock_);
  drain(stream);
  streams_.erase(stream);
}

void* FakeGpu::allocate(std::size_t bytes) {
  const std::lock_guard lock(lock_);
  const std::size_t rounded = (bytes + kLine - 1) / kLine * kLine;
  void* data = nullptr;
  const auto fitting = free_.find(rounded);
  if (fitting != free_.end()) {
    data = fitting->second;
    free_.erase(fitting);
  } else {
    data = arena_ + used_;
    used_ += rounded;
  }
  held_[data] = rounded;
  undirtied_.push_back(data);
  return data;
}

void FakeGpu::release(void* data) {
  const std::lock_guard lock(lock_);
  const auto held = held_.find(data);
  if (held != held_.end()) {
    free_.emplace(held->second, data);
    held_.erase(held);
  }
}

bool FakeGpu::owns(const void* data) const {
  return data >= arena_ && data < arena_ + kArenaBytes;
}

void* FakeGpu::allocate_pinned(std::size_t bytes) {
  const std::lock_guard lock(lock_);
  std::vector<std::byte> room(bytes);
  void* const data = room.data();
  pinned_.emplace(data, std::move(room));
  return data;
}

void FakeGpu::release_pinned(void* data) {
  const std::lock_guard lock(lock_);
  pinned_.erase(data);
}

bool FakeGpu::is_pinned(const void* data) {
  const std::lock_guard lock(lock_);
  const auto after = pinned_.upper_bound(const_cast<void*>(data));
  if (after == pinned_.begin()) {
    return false;
  }
  const std::vector<std::byte>& room = std::prev(after)->second;
  return data < room.data() + room.size();
}

}  // namespace meshparity
