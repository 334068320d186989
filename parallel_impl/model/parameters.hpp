// A rank's parameters: which slice of each it holds, their values, and their gradients of a step.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel_impl/backend/buffer.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/model/bucket_plan.hpp"
#include "parallel_impl/model/param_slice.hpp"

namespace meshparity {

/// The chunk of the pipeline on this rank that works with a parameter; -1: none of them does.
using ChunkOf = std::function<int(const ParamSpec&)>;
/// Of a rank that holds the whole model: 0 for every parameter.
ChunkOf single_chunk();

/// What a rank updates of a parameter: elements [first, first + count) of its slice in memory. All
/// of them without ZeRO.
template <class T>
struct OwnPart {
  int first = 0;
  int count = 0;
  int place = 0;  // of the first in this rank's part of the bucket
  T* value = nullptr;
  T* grad = nullptr;
};

/// One parameter on this rank; its value and gradient lie in storage of Parameters.
template <class T>
struct Param {
  ParamSpec spec;
  ParamSlice slice;
  int chunk = 0;
  T* value = nullptr;  // of the whole slice; in ZeRO's stage 3 null unless gathered
  /// Sum over this step's micro-batches; from stage 2 on that of the micro-batch under way.
  T* grad = nullptr;
  OwnPart<T> own;
  /// The value is that of spec.tied_to, which this rank holds too; the gradient is its own.
  bool shares_value = false;

  int count() const { return slice.rows * slice.columns; }
  /// Here or on another rank: shares_value tells.
  bool is_tied() const { return !spec.tied_to.empty(); }
};

/// A bucket's memory: whole, or this rank's part of it.
template <class T>
struct StoredBucket {
  Bucket plan;
  Buffer<T> values;     // in stage 3 the part; empty where the value is shared
  Buffer<T> gradients;  // from stage 2 on the part
};

/// Values of elements [first, first + out.size()) of the parameter at `index` of the table,
/// row-major over its global shape.
using ParamSource = std::function<void(const std::vector<ParamSpec>& table, std::size_t index,
                                       std::int64_t first, std::span<double> out)>;
/// The initial values of a seed.
ParamSource initial_source(std::uint64_t seed);

/// Which parameters a rank holds, and how they are cut.
struct ParamLayout {
  ChunkOf chunk_of = single_chunk();
  BucketRules buckets;
};

/// The parameters of the table that this rank's chunks work with, at their initial values.
template <class T>
class Parameters {
 public:
  Parameters(const ModelSpec& model, const Mesh& mesh, std::uint64_t seed, Memory& memory);
  /// Cut out of other values.
  Parameters(const ModelSpec& model, const Mesh& mesh, const ParamSource& source, Memory& memory,
             const ParamLayout& layout = {});

  std::vector<Param<T>>& all() { return params_; }
  const std::vector<Param<T>>& all() const { return params_; }
  /// The parameter must be on this rank.
  Param<T>& at(std::string_view name);
  /// Null when this rank has none of that name.
  Param<T>* find(std::string_view name);
  /// What gradients are summed in over the step: all of it, or this rank's parts.
  void clear_gradients();
  /// The largest count of all.
  int largest() const;

  /// Entries are places in all().
  std::vector<StoredBucket<T>>& buckets() { return buckets_; }
  const std::vector<StoredBucket<T>>& buckets() const { return buckets_; }
  const BucketRules& rules() const { return rules_; }
  /// Of the parts of a bucket, this rank's.
  int part() const { return part_; }

 private:
  void add(const ParamSpec& spec, const ModelSpec& model, const Mesh& mesh, int chunk);
  std::vector<BucketItem> items(const ModelSpec& model) const;
  void store(Bucket plan, Memory& memory);
  void place(StoredBucket<T>& bucket, const Bucket::Entry& entry);

  BucketRules rules_;
  int part_ = 0;
  std::vector<Param<T>> params_;
  std::vector<StoredBucket<T>> buckets_;
};

}  // namespace meshparity
