// Cooperative groups: block, tiles, coalesced threads, grid and multi-grid; collectives on tiles.
#pragma once
#pragma clang system_header

#include <hip/hip_runtime.h>

#if defined(__cplusplus) && defined(__HIP__)

#define __CG_FN__ __attribute__((device)) inline

namespace cooperative_groups {

namespace detail {
// The block's arguments beside the kernel's own (docs/hostcall.md, "Cooperative launches").
struct GridSync { unsigned long long multi; unsigned grid_id, num_grids; unsigned long long prev_sum, all_sum; unsigned w0, w1, num_wg; };
struct MultiSync { unsigned w0, w1; };
#if defined(__HIP_DEVICE_COMPILE__)
__CG_FN__ GridSync* grid_sync() {
  typedef __attribute__((address_space(4))) const char* Constant;
  Constant arguments = (Constant)__builtin_amdgcn_implicitarg_ptr();
  return *(GridSync* __attribute__((address_space(4))) const*)(arguments + 88);
}
#else
__CG_FN__ GridSync* grid_sync() { return nullptr; }
#endif
// One arrival; the last of `expected` opens the gate, whose state is the word's high half.
__CG_FN__ void arrive_and_wait(unsigned* word, unsigned expected) {
  unsigned old = __hip_atomic_fetch_add(word, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_SYSTEM);
  if ((old & 0xffffu) == expected - 1) {
    __hip_atomic_fetch_add(word, 0x10000u - expected, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_SYSTEM);
    return;
  }
  while (((__hip_atomic_load(word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) ^ old) & 0xffff0000u) == 0)
    __builtin_amdgcn_s_sleep(1);
}
__CG_FN__ unsigned block_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__CG_FN__ unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
__CG_FN__ unsigned grid_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
__CG_FN__ unsigned grid_block_rank() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
__CG_FN__ void grid_barrier() {
  __threadfence();
  __syncthreads();
  if (block_rank() == 0) arrive_and_wait(&grid_sync()->w0, grid_blocks());
  __syncthreads();
  __threadfence();
}
}  // namespace detail

// ---- groups

class thread_group {
 public:
  enum kind_t { coalesced_kind, block_kind, tile_kind, grid_kind, multi_grid_kind };
  __CG_FN__ unsigned size() const { return kind_ == block_kind ? detail::block_size() : size_; }
  __CG_FN__ unsigned num_threads() const { return size(); }
  __CG_FN__ unsigned thread_rank() const {
    if (kind_ == block_kind) return detail::block_rank();
    return __builtin_popcountll(mask_ & ((1ull << __lane_id()) - 1));
  }
  __CG_FN__ void sync() const {
    if (kind_ == block_kind) __syncthreads();
    else __syncwarp();
  }
  __CG_FN__ bool is_valid() const { return true; }
  __CG_FN__ unsigned cg_type() const { return kind_; }
  kind_t kind_;
  unsigned size_;
  unsigned long long mask_;

 protected:
  __CG_FN__ thread_group(kind_t kind, unsigned size, unsigned long long mask) : kind_(kind), size_(size), mask_(mask) {}
};

class thread_block : public thread_group {
 public:
  __CG_FN__ thread_block() : thread_group(block_kind, 0, 0) {}
  static __CG_FN__ dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __CG_FN__ dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static __CG_FN__ dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static __CG_FN__ dim3 dim_threads() { return group_dim(); }
  static __CG_FN__ unsigned thread_rank() { return detail::block_rank(); }
  static __CG_FN__ unsigned size() { return detail::block_size(); }
  static __CG_FN__ unsigned num_threads() { return detail::block_size(); }
  static __CG_FN__ void sync() { __syncthreads(); }
  static __CG_FN__ bool is_valid() { return true; }
  // The hardware has no split barrier: all the waiting is in barrier_wait.
  struct arrival_token {};
  static __CG_FN__ arrival_token barrier_arrive() { return arrival_token(); }
  static __CG_FN__ void barrier_wait(arrival_token) { __syncthreads(); }
};
__CG_FN__ thread_block this_thread_block() { return thread_block(); }

class grid_group {
 public:
  __CG_FN__ bool is_valid() const { return detail::grid_sync() != nullptr; }
  __CG_FN__ void sync() const { detail::grid_barrier(); }
  static __CG_FN__ unsigned long long size() { return (unsigned long long)detail::grid_blocks() * detail::block_size(); }
  static __CG_FN__ unsigned long long num_threads() { return size(); }
  static __CG_FN__ unsigned long long thread_rank() {
    return (unsigned long long)detail::grid_block_rank() * detail::block_size() + detail::block_rank();
  }
  static __CG_FN__ dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static __CG_FN__ dim3 dim_blocks() { return group_dim(); }
  static __CG_FN__ unsigned num_blocks() { return detail::grid_blocks(); }
  static __CG_FN__ unsigned block_rank() { return detail::grid_block_rank(); }
  static __CG_FN__ dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __CG_FN__ dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  struct arrival_token {};
  __CG_FN__ arrival_token barrier_arrive() const { return arrival_token(); }
  __CG_FN__ void barrier_wait(arrival_token) const { sync(); }
};
__CG_FN__ grid_group this_grid() { return grid_group(); }

class multi_grid_group {
 public:
  __CG_FN__ bool is_valid() const { return detail::grid_sync() != nullptr && detail::grid_sync()->multi != 0; }
  __CG_FN__ unsigned num_grids() const { return is_valid() ? detail::grid_sync()->num_grids : 1; }
  __CG_FN__ unsigned grid_rank() const { return is_valid() ? detail::grid_sync()->grid_id : 0; }
  __CG_FN__ unsigned size() const { return (unsigned)(is_valid() ? detail::grid_sync()->all_sum : grid_group::size()); }
  __CG_FN__ unsigned num_threads() const { return size(); }
  __CG_FN__ unsigned thread_rank() const {
    return (unsigned)((is_valid() ? detail::grid_sync()->prev_sum : 0) + grid_group::thread_rank());
  }
  __CG_FN__ void sync() const {
    detail::grid_barrier();
    if (!is_valid()) return;
    if (detail::block_rank() == 0 && detail::grid_block_rank() == 0)
      detail::arrive_and_wait(&((detail::MultiSync*)detail::grid_sync()->multi)->w0, num_grids());
    detail::grid_barrier();
  }
};
__CG_FN__ multi_grid_group this_multi_grid() { return multi_grid_group(); }

// A group of the calling thread alone.
namespace detail {
struct one_thread : thread_group { __CG_FN__ one_thread() : thread_group(tile_kind, 1, 1ull << __lane_id()) {} };
}  // namespace detail
__CG_FN__ thread_group this_thread() { return detail::one_thread(); }

// ---- lanes of one wave: a mask, ranks counted within it

class coalesced_group : public thread_group {
 public:
  __CG_FN__ coalesced_group(unsigned long long mask)
      : thread_group(coalesced_kind, __builtin_popcountll(mask), mask) {}
  __CG_FN__ unsigned size() const { return size_; }
  __CG_FN__ unsigned num_threads() const { return size_; }
  __CG_FN__ void sync() const { __syncwarp(); }
  __CG_FN__ unsigned meta_group_rank() const { return 0; }
  __CG_FN__ unsigned meta_group_size() const { return 1; }
  template <typename T> __CG_FN__ T shfl(T value, int rank) const { return hip_detail::from_lane(value, lane_of(rank & (int)(~0u >> 1))); }
  template <typename T> __CG_FN__ T shfl_down(T value, unsigned delta) const {
    unsigned rank = thread_rank();
    return hip_detail::from_lane(value, rank + delta < size_ ? lane_of(rank + delta) : (int)__lane_id());
  }
  template <typename T> __CG_FN__ T shfl_up(T value, unsigned delta) const {
    unsigned rank = thread_rank();
    return hip_detail::from_lane(value, rank >= delta ? lane_of(rank - delta) : (int)__lane_id());
  }
  // Votes come back with one bit per rank.
  __CG_FN__ unsigned long long ballot(int predicate) const { return pack(__ballot64(predicate) & mask_); }
  __CG_FN__ int any(int predicate) const { return (__ballot64(predicate) & mask_) != 0; }
  __CG_FN__ int all(int predicate) const { return (__ballot64(predicate) & mask_) == mask_; }
  template <typename T> __CG_FN__ unsigned long long match_any(T value) const { return pack(__match_any(value) & mask_); }
  template <typename T> __CG_FN__ unsigned long long match_all(T value, int& predicate) const {
    return pack(__match_all_sync(mask_, value, &predicate));
  }

 private:
  __CG_FN__ int lane_of(int rank) const {
    unsigned long long m = mask_;
    for (int i = 0; i < rank; ++i) m &= m - 1;
    return m ? __builtin_ctzll(m) : (int)__lane_id();
  }
  __CG_FN__ unsigned long long pack(unsigned long long lanes) const {
    unsigned long long result = 0, m = mask_;
    for (unsigned rank = 0; m; ++rank, m &= m - 1)
      if (lanes >> __builtin_ctzll(m) & 1) result |= 1ull << rank;
    return result;
  }
};
__CG_FN__ coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
// The active lanes whose label is the same.
template <typename T> __CG_FN__ coalesced_group labeled_partition(const coalesced_group& parent, T label) {
  return coalesced_group(__match_any(label) & parent.mask_);
}
__CG_FN__ coalesced_group binary_partition(const coalesced_group& parent, bool predicate) {
  unsigned long long yes = __ballot64(predicate) & parent.mask_;
  return coalesced_group(predicate ? yes : parent.mask_ & ~yes);
}
// Ranks of the parent, `size` at a time.
__CG_FN__ coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  unsigned long long rest = parent.mask_, part = 0;
  const unsigned tile = parent.thread_rank() / size;
  for (unsigned rank = 0; rest; ++rank, rest &= rest - 1)
    if (rank / size == tile) part |= rest & -rest;
  return coalesced_group(part);
}

namespace detail {
__CG_FN__ unsigned long long tile_mask(unsigned size) {
  unsigned first = __lane_id() & ~(size - 1);
  return (size >= 64 ? ~0ull : (1ull << size) - 1) << first;
}
}  // namespace detail

template <unsigned Size, typename Parent = thread_block> class thread_block_tile : public thread_group {
  static_assert(Size && (Size & (Size - 1)) == 0 && Size <= 64, "a tile is a power of two of at most 64 lanes");

 public:
  static constexpr unsigned numThreads = Size;
  __CG_FN__ thread_block_tile() : thread_group(tile_kind, Size, detail::tile_mask(Size)) {}
  template <typename P> __CG_FN__ thread_block_tile(const thread_block_tile<Size, P>&) : thread_block_tile() {}
  static __CG_FN__ unsigned thread_rank() { return detail::block_rank() & (Size - 1); }
  static constexpr __CG_FN__ unsigned size() { return Size; }
  static constexpr __CG_FN__ unsigned num_threads() { return Size; }
  static __CG_FN__ void sync() { __syncwarp(); }
  static __CG_FN__ unsigned meta_group_rank() { return detail::block_rank() / Size; }
  static __CG_FN__ unsigned meta_group_size() { return (detail::block_size() + Size - 1) / Size; }
  template <typename T> __CG_FN__ T shfl(T value, int source) const { return __shfl(value, source, Size); }
  template <typename T> __CG_FN__ T shfl_down(T value, unsigned delta) const { return __shfl_down(value, delta, Size); }
  template <typename T> __CG_FN__ T shfl_up(T value, unsigned delta) const { return __shfl_up(value, delta, Size); }
  template <typename T> __CG_FN__ T shfl_xor(T value, unsigned mask) const { return __shfl_xor(value, (int)mask, Size); }
  __CG_FN__ unsigned long long ballot(int predicate) const { return lanes(__ballot64(predicate)); }
  __CG_FN__ int any(int predicate) const { return ballot(predicate) != 0; }
  __CG_FN__ int all(int predicate) const { return lanes(__ballot64(!predicate)) == 0; }
  template <typename T> __CG_FN__ unsigned long long match_any(T value) const { return lanes(__match_any(value)); }
  template <typename T> __CG_FN__ unsigned long long match_all(T value, int& predicate) const {
    unsigned long long same = lanes(__match_any(value)), everyone = lanes(__activemask());
    predicate = same == everyone;
    return predicate ? everyone : 0;
  }

 private:
  __CG_FN__ unsigned long long lanes(unsigned long long vote) const {
    unsigned first = __lane_id() & ~(Size - 1);
    unsigned long long moved = vote >> first;
    return Size >= 64 ? moved : moved & ((1ull << (Size & 63)) - 1);
  }
};
template <unsigned Size, typename P, typename T>
__CG_FN__ coalesced_group labeled_partition(const thread_block_tile<Size, P>& parent, T label) {
  return labeled_partition(coalesced_group(parent.mask_ & __activemask()), label);
}
template <unsigned Size, typename P>
__CG_FN__ coalesced_group binary_partition(const thread_block_tile<Size, P>& parent, bool predicate) {
  return binary_partition(coalesced_group(parent.mask_ & __activemask()), predicate);
}

template <unsigned Size, typename Parent> __CG_FN__ thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<Size, Parent>();
}
class tiled_group : public thread_group {
 public:
  __CG_FN__ tiled_group(unsigned size) : thread_group(tile_kind, size, detail::tile_mask(size)) {}
  __CG_FN__ unsigned thread_rank() const { return detail::block_rank() & (size_ - 1); }
  __CG_FN__ unsigned size() const { return size_; }
  __CG_FN__ void sync() const { __syncwarp(); }
  __CG_FN__ unsigned meta_group_rank() const { return detail::block_rank() / size_; }
  __CG_FN__ unsigned meta_group_size() const { return (detail::block_size() + size_ - 1) / size_; }
};
template <typename Parent> __CG_FN__ tiled_group tiled_partition(const Parent&, unsigned size) { return tiled_group(size); }

template <typename Group> __CG_FN__ void sync(const Group& group) { group.sync(); }
template <typename Group> __CG_FN__ unsigned group_size(const Group& group) { return (unsigned)group.size(); }
template <typename Group> __CG_FN__ unsigned thread_rank(const Group& group) { return (unsigned)group.thread_rank(); }
template <typename Group> __CG_FN__ bool is_valid(const Group& group) { return group.is_valid(); }

// ---- collectives

template <typename T = void> struct plus { template <typename U> __CG_FN__ U operator()(U a, U b) const { return a + b; } };
template <typename T = void> struct less { template <typename U> __CG_FN__ U operator()(U a, U b) const { return b < a ? b : a; } };
template <typename T = void> struct greater { template <typename U> __CG_FN__ U operator()(U a, U b) const { return a < b ? b : a; } };
template <typename T = void> struct bit_and { template <typename U> __CG_FN__ U operator()(U a, U b) const { return a & b; } };
template <typename T = void> struct bit_or { template <typename U> __CG_FN__ U operator()(U a, U b) const { return a | b; } };
template <typename T = void> struct bit_xor { template <typename U> __CG_FN__ U operator()(U a, U b) const { return a ^ b; } };

template <unsigned Size, typename P, typename T, typename Op>
__CG_FN__ T reduce(const thread_block_tile<Size, P>& tile, T value, Op op) {
  for (unsigned step = Size / 2; step; step /= 2) value = op(value, tile.shfl_xor(value, step));
  return value;
}
template <typename T, typename Op> __CG_FN__ T reduce(const coalesced_group& group, T value, Op op) {
  T total = group.shfl(value, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank) total = op(total, group.shfl(value, (int)rank));
  return total;
}
template <typename Group, typename T, typename Op> __CG_FN__ T inclusive_scan(const Group& group, T value, Op op) {
  for (unsigned step = 1; step < group.size(); step *= 2) {
    T before = group.shfl_up(value, step);
    if (group.thread_rank() >= step) value = op(before, value);
  }
  return value;
}
template <typename Group, typename T> __CG_FN__ T inclusive_scan(const Group& group, T value) { return inclusive_scan(group, value, plus<T>()); }
template <typename Group, typename T, typename Op> __CG_FN__ T exclusive_scan(const Group& group, T value, Op op) {
  T before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() ? before : T();
}
template <typename Group, typename T> __CG_FN__ T exclusive_scan(const Group& group, T value) { return exclusive_scan(group, value, plus<T>()); }

// Copies by the whole group; done when wait returns.
template <typename Group, typename T> __CG_FN__ void memcpy_async(const Group& group, T* to, const T* from, __SIZE_TYPE__ bytes) {
  char* d = (char*)to;
  const char* s = (const char*)from;
  for (__SIZE_TYPE__ i = group.thread_rank(); i < bytes / 4; i += group.size()) {
    int word;
    __builtin_memcpy(&word, s + 4 * i, 4);
    __builtin_memcpy(d + 4 * i, &word, 4);
  }
  for (__SIZE_TYPE__ i = bytes / 4 * 4 + group.thread_rank(); i < bytes; i += group.size()) d[i] = s[i];
}
template <typename Group> __CG_FN__ void wait(const Group& group) { group.sync(); }
template <unsigned N, typename Group> __CG_FN__ void wait_prior(const Group& group) { group.sync(); }

}  // namespace cooperative_groups

#undef __CG_FN__
#endif
