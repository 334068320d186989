#include "parallel_impl/model/parameters.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace meshparity {
namespace {

/// Values of the slice, row by row where it is cut by columns.
void initial_slice(const std::vector<ParamSpec>& table, std::size_t index, const ParamSlice& slice,
                   const ParamSource& source, std::span<double> out) {
  const ParamSpec& param = table[index];
  const bool is_matrix = param.shape.size() == 2;
  const std::int64_t global_columns = param.shape.back();
  const std::int64_t rows = is_matrix ? slice.box.extent[0] : 1;
  const std::int64_t columns = slice.box.extent.back();
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t global_row = is_matrix ? slice.box.start[0] + row : 0;
    const std::int64_t first = global_row * global_columns + slice.box.start.back();
    source(table, index, first,
           out.subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns)));
  }
}

/// The whole slice where it is held, else the part that this rank owns.
template <class T>
void upload_initial(const std::vector<ParamSpec>& table, std::size_t index,
                    const ParamSource& source, const Param<T>& param, Memory& memory) {
  std::vector<double> values(static_cast<std::size_t>(param.slice.logical));
  initial_slice(table, index, param.slice, source, values);
  std::vector<T> narrowed(static_cast<std::size_t>(param.count()));
  std::transform(values.begin(), values.end(), narrowed.begin(),
                 [](double value) { return static_cast<T>(value); });
  const bool whole = param.value != nullptr;
  const int count = whole ? param.count() : param.own.count;
  memory.upload(narrowed.data() + (whole ? 0 : param.own.first),
                whole ? param.value : param.own.value, static_cast<std::size_t>(count) * sizeof(T));
}

}  // namespace

ChunkOf single_chunk() {
  return [](const ParamSpec&) { return 0; };
}

ParamSource initial_source(std::uint64_t seed) {
  return [seed](const std::vector<ParamSpec>& table, std::size_t index, std::int64_t first,
                std::span<double> out) { initial_values(table, index, seed, first, out); };
}

template <class T>
Parameters<T>::Parameters(const ModelSpec& model, const Mesh& mesh, std::uint64_t seed,
                          Memory& memory)
    : Parameters(model, mesh, initial_source(seed), memory) {}

template <class T>
Parameters<T>::Parameters(const ModelSpec& model, const Mesh& mesh, const ParamSource& source,
                          Memory& memory, const ParamLayout& layout)
    : rules_(layout.buckets), part_(rules_.stage > 0 ? mesh.index(Axis::dp) : 0) {
  const std::vector<ParamSpec> table = param_table(model);
  std::vector<std::size_t> places;
  for (std::size_t index = 0; index < table.size(); ++index) {
    if (const int chunk = layout.chunk_of(table[index]); chunk >= 0) {
      add(table[index], model, mesh, chunk);
      places.push_back(index);
    }
  }
  for (Bucket& bucket : bucket_plan(items(model), rules_)) {
    store(std::move(bucket), memory);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!params_[i].shares_value) {
      upload_initial(table, places[i], source, params_[i], memory);
    }
  }
}

template <class T>
void Parameters<T>::add(const ParamSpec& spec, const ModelSpec& model, const Mesh& mesh,
                        int chunk) {
  Param<T> param;
  param.spec = spec;
  param.slice = slice_of(spec, model, mesh.degree(Axis::tp), mesh.index(Axis::tp));
  param.chunk = chunk;
  param.shares_value = find(spec.tied_to) != nullptr;
  params_.push_back(std::move(param));
}

template <class T>
std::vector<BucketItem> Parameters<T>::items(const ModelSpec& model) const {
  std::vector<BucketItem> items;
  for (const Param<T>& param : params_) {
    const bool is_matrix = param.spec.shape.size() == 2;
    const bool vocabulary = param.spec.name == "embed.weight" || param.spec.name == "head.weight";
    items.push_back({is_matrix ? param.slice.rows : param.slice.columns,
                     is_matrix ? param.slice.columns : 1, param.chunk, piece_of(param.spec, model),
                     model.tied_embeddings && vocabulary});
  }
  return items;
}

template <class T>
void Parameters<T>::store(Bucket plan, Memory& memory) {
  const std::int64_t whole = plan.count();
  const std::int64_t part = plan.part_count(part_);
  // A weight that shares its value is alone in its bucket.
  const bool shared = params_[plan.entries.front().item].shares_value;
  StoredBucket<T>& bucket = buckets_.emplace_back();
  bucket.plan = std::move(plan);
  bucket.gradients = Buffer<T>(memory, MemoryTag::gradient, rules_.stage >= 2 ? part : whole);
  if (!shared) {
    bucket.values = Buffer<T>(memory, MemoryTag::parameter, rules_.stage == 3 ? part : whole);
  }
  for (const Bucket::Entry& entry : bucket.plan.entries) {
    place(bucket, entry);
  }
}

template <class T>
void Parameters<T>::place(StoredBucket<T>& bucket, const Bucket::Entry& entry) {
  Param<T>& param = params_[entry.item];
  const std::int64_t begin =
      std::clamp<std::int64_t>(bucket.plan.part_begin(part_) - entry.first, 0, param.count());
  const std::int64_t end =
      std::clamp<std::int64_t>(bucket.plan.part_end(part_) - entry.first, begin, param.count());
  param.own.first = static_cast<int>(begin);
  param.own.count = static_cast<int>(end - begin);
  // Where the own part begins in memory that holds the whole bucket, and in the part's alone.
  const std::int64_t in_whole = entry.first + begin;
  const std::int64_t in_part = std::clamp<std::int64_t>(in_whole - bucket.plan.part_begin(part_), 0,
                                                        bucket.plan.part_count(part_));
  param.own.place = static_cast<int>(in_part);
  const bool whole_gradient = rules_.stage < 2;
  param.grad = whole_gradient ? bucket.gradients.data() + entry.first : nullptr;
  param.own.grad = bucket.gradients.data() + (whole_gradient ? in_whole : in_part);
  if (param.shares_value) {
    const Param<T>& source = at(param.spec.tied_to);
    param.value = source.value;
    param.own.value = source.own.value;
    return;
  }
  const bool whole_value = rules_.stage < 3;
  param.value = whole_value ? bucket.values.data() + entry.first : nullptr;
  param.own.value = bucket.values.data() + (whole_value ? in_whole : in_part);
}

template <class T>
Param<T>* Parameters<T>::find(std::string_view name) {
  const auto found = std::find_if(params_.begin(), params_.end(),
                                  [&](const Param<T>& param) { return param.spec.name == name; });
  return found == params_.end() ? nullptr : &*found;
}

template <class T>
Param<T>& Parameters<T>::at(std::string_view name) {
  Param<T>* const found = find(name);
  assert(found != nullptr);
  return *found;
}

template <class T>
void Parameters<T>::clear_gradients() {
  for (StoredBucket<T>& bucket : buckets_) {
    bucket.gradients.clear();
  }
}

template <class T>
int Parameters<T>::largest() const {
  int largest = 0;
  for (const Param<T>& param : params_) {
    largest = std::max(largest, param.count());
  }
  return largest;
}

template class Parameters<double>;
template class Parameters<float>;

}  // namespace meshparity
