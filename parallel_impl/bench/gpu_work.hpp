// Every kernel once at a realistic size: how it is begun, and what it must move and compute at
// least. For figures only; the numbers in memory mean nothing.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel_impl/backend/buffer.hpp"

namespace meshparity {

struct GpuWork {
  std::string kernel;  // "AdamW<float>"
  double bytes = 0;    // each input read once, each output written once
  double flops = 0;    // multiplications and additions of products and of attention, else 0
  std::function<void()> begin;
};

struct WorkSizes {
  int rows = 16384;  // tokens; a tensor of rows x width is larger than a GPU's cache
  int width = 2048;
  int vocabulary = 8192;
  int samples = 8;  // of attention
  int heads = 16;
  int head_dim = 64;
  int sequence = 512;
};

/// The backend outlives it.
template <class T>
class GpuWorkTable {
 public:
  GpuWorkTable(Backend<T>& backend, const WorkSizes& sizes);
  ~GpuWorkTable();

  const std::vector<GpuWork>& rows() const { return rows_; }

 private:
  struct Memory;

  void add_elementwise();
  void add_rounding();
  void add_norms();
  void add_rows_of_tokens();
  void add_attention();
  void add_vocabulary();
  void add_updates();
  void add_masters();
  template <class Kernel>
  void add(const Kernel& kernel, double bytes, double flops = 0);

  Backend<T>& backend_;
  WorkSizes sizes_;
  int count_;  // rows x width
  std::unique_ptr<Memory> memory_;
  std::vector<GpuWork> rows_;
};

/// A product of rows x depth by depth x columns, row by row; its operands are made and kept.
template <class T>
GpuWork product_work(Backend<T>& backend, int rows, int depth, int columns);

}  // namespace meshparity
