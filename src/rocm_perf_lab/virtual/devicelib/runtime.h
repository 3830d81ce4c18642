// printf, assert and the heap, by the hostcall protocol of docs/hostcall.md; the counting barrier.
#pragma once

#include "base.h"

#if defined(__HIP_DEVICE_COMPILE__)

struct HostcallHeader {
  u64 next, activemask;
  u32 service, control;
};
struct HostcallBuffer {
  HostcallHeader* headers;
  u64 (*payloads)[64][8];
  u64 doorbell, free_stack, ready_stack, index_mask;
};
struct HostcallResult { u64 first, second; };

#define SYSTEM __HIP_MEMORY_SCOPE_SYSTEM

FN u64 uniform(u64 x) {
  u32 lo = __builtin_amdgcn_readfirstlane((u32)x), hi = __builtin_amdgcn_readfirstlane((u32)(x >> 32));
  return (u64)hi << 32 | lo;
}
FN u32 lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }

FN u64 hostcall_pop(HostcallBuffer* buffer) {
  u64 top = __hip_atomic_load(&buffer->free_stack, __ATOMIC_ACQUIRE, SYSTEM);
  for (;;) {
    u64 next = __hip_atomic_load(&buffer->headers[top & buffer->index_mask].next, __ATOMIC_RELAXED, SYSTEM);
    if (__hip_atomic_compare_exchange_strong(&buffer->free_stack, &top, next, __ATOMIC_ACQUIRE,
                                             __ATOMIC_ACQUIRE, SYSTEM))
      return top;
    __builtin_amdgcn_s_sleep(1);
  }
}
FN void hostcall_push(HostcallBuffer* buffer, u64* stack, u64 packet) {
  u64 top = __hip_atomic_load(stack, __ATOMIC_RELAXED, SYSTEM);
  do {
    __hip_atomic_store(&buffer->headers[packet & buffer->index_mask].next, top, __ATOMIC_RELAXED, SYSTEM);
  } while (!__hip_atomic_compare_exchange_strong(stack, &top, packet, __ATOMIC_RELEASE,
                                                 __ATOMIC_RELAXED, SYSTEM));
}
FN void hostcall_ring(u64 signal) {
  __hip_atomic_fetch_add((i64*)(signal + 8), (i64)1, __ATOMIC_RELEASE, SYSTEM);
  u64* mailbox = *(u64**)(signal + 16);
  if (mailbox) {
    u32 event = *(u32*)(signal + 24);
    __hip_atomic_store(mailbox, (u64)event, __ATOMIC_RELEASE, SYSTEM);
    __builtin_amdgcn_s_sendmsg(1, __builtin_amdgcn_readfirstlane(event) & 0xffffffu);
  }
}

EXPORT __attribute__((noinline)) HostcallResult __ockl_hostcall_internal(
    void* buffer_pointer, u32 service, u64 w0, u64 w1, u64 w2, u64 w3, u64 w4, u64 w5, u64 w6, u64 w7) {
  HostcallBuffer* buffer = (HostcallBuffer*)uniform((u64)buffer_pointer);
  u32 lane = lane_id();
  bool leader = lane == __builtin_amdgcn_readfirstlane(lane);
  u64 packet = 0;
  if (leader) packet = hostcall_pop(buffer);
  packet = uniform(packet);
  u64 index = packet & buffer->index_mask;
  u64* slot = buffer->payloads[index][lane];
  slot[0] = w0; slot[1] = w1; slot[2] = w2; slot[3] = w3;
  slot[4] = w4; slot[5] = w5; slot[6] = w6; slot[7] = w7;
  HostcallHeader* header = &buffer->headers[index];
  u64 active = __builtin_amdgcn_ballot_w64(true);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
  if (leader) {
    header->activemask = active;
    header->service = service;
    __hip_atomic_store(&header->control, 1u, __ATOMIC_RELEASE, SYSTEM);
    hostcall_push(buffer, &buffer->ready_stack, packet);
    hostcall_ring(buffer->doorbell);
    while (__hip_atomic_load(&header->control, __ATOMIC_ACQUIRE, SYSTEM) & 1u) __builtin_amdgcn_s_sleep(1);
  }
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
  HostcallResult result = {__hip_atomic_load(&slot[0], __ATOMIC_RELAXED, SYSTEM),
                           __hip_atomic_load(&slot[1], __ATOMIC_RELAXED, SYSTEM)};
  // Every lane has its result before the packet may be used again.
  __builtin_amdgcn_wave_barrier();
  if (leader) {
    u64 back = packet + buffer->index_mask + 1;
    if (back == 0) back += buffer->index_mask + 1;
    hostcall_push(buffer, &buffer->free_stack, back);
  }
  return result;
}

FN HostcallResult hostcall(u32 service, u64 w0, u64 w1, u64 w2 = 0, u64 w3 = 0, u64 w4 = 0, u64 w5 = 0,
                           u64 w6 = 0, u64 w7 = 0) {
  // The hidden argument's offset in code objects v5 and v6.
  typedef __attribute__((address_space(4))) const char* Constant;
  Constant arguments = (Constant)__builtin_amdgcn_implicitarg_ptr();
  void* buffer = *(void* __attribute__((address_space(4))) const*)(arguments + 80);
  return __ockl_hostcall_internal(buffer, service, w0, w1, w2, w3, w4, w5, w6, w7);
}

enum { SERVICE_PRINTF = 2, SERVICE_MEMORY = 3 };
enum : u64 { MESSAGE_BEGIN = 1, MESSAGE_END = 2 };

FN u64 message(u64 descriptor, u64 flags, u64 words, u64 a0, u64 a1 = 0, u64 a2 = 0, u64 a3 = 0, u64 a4 = 0,
               u64 a5 = 0, u64 a6 = 0) {
  u64 word = (descriptor & ~(u64)0xff) | flags | words << 5;
  return hostcall(SERVICE_PRINTF, word, a0, a1, a2, a3, a4, a5, a6).first;
}

FN u64 append_args(u64 descriptor, u32 n, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5, u64 a6, u32 last) {
  return message(descriptor, last ? MESSAGE_END : 0, n, a0, a1, a2, a3, a4, a5, a6);
}
FN u64 append_string(u64 descriptor, const char* text, u64 bytes, u32 last) {
  if (!text || bytes == 0) return message(descriptor, last ? MESSAGE_END : 0, 1, 0);
  for (;;) {
    u64 now = bytes < 56 ? bytes : 56;
    u64 words[7] = {0, 0, 0, 0, 0, 0, 0};
    for (u64 i = 0; i < now; ++i) words[i >> 3] |= (u64)(unsigned char)text[i] << (8 * (i & 7));
    bool final_packet = bytes <= 56;
    descriptor = message(descriptor, final_packet && last ? MESSAGE_END : 0, (now + 7) / 8, words[0], words[1],
                         words[2], words[3], words[4], words[5], words[6]);
    if (final_packet) return descriptor;
    text += now;
    bytes -= now;
  }
}

EXPORT u64 __ockl_printf_begin(u64) { return message(0, MESSAGE_BEGIN, 1, 0); }
EXPORT u64 __ockl_fprintf_stdout_begin() { return message(0, MESSAGE_BEGIN, 1, 0); }
EXPORT u64 __ockl_fprintf_stderr_begin() { return message(0, MESSAGE_BEGIN, 1, 1); }
EXPORT u64 __ockl_printf_append_args(u64 d, u32 n, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5, u64 a6, u32 last) {
  return append_args(d, n, a0, a1, a2, a3, a4, a5, a6, last);
}
EXPORT u64 __ockl_fprintf_append_args(u64 d, u32 n, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5, u64 a6, u32 last) {
  return append_args(d, n, a0, a1, a2, a3, a4, a5, a6, last);
}
EXPORT u64 __ockl_printf_append_string_n(u64 d, const char* text, u64 bytes, u32 last) {
  return append_string(d, text, bytes, last);
}
EXPORT u64 __ockl_fprintf_append_string_n(u64 d, const char* text, u64 bytes, u32 last) {
  return append_string(d, text, bytes, last);
}

FN u64 length_with_end(const char* text) {
  u64 n = 0;
  while (text[n]) ++n;
  return n + 1;
}

EXPORT __attribute__((noinline, noreturn, cold)) void __assert_fail(const char* expression, const char* file,
                                                                    u32 line, const char* function) {
  static const char format[] = "%s:%u: %s: Device-side assertion `%s' failed.\n";
  u64 d = __ockl_fprintf_stderr_begin();
  d = append_string(d, format, sizeof format, 0);
  d = append_string(d, file, length_with_end(file), 0);
  d = append_args(d, 1, line, 0, 0, 0, 0, 0, 0, 0);
  d = append_string(d, function, length_with_end(function), 0);
  append_string(d, expression, length_with_end(expression), 1);
  __builtin_trap();
}

EXPORT __attribute__((noinline)) void* __ockl_dm_alloc(u64 bytes) {
  return (void*)hostcall(SERVICE_MEMORY, 0, bytes ? bytes : 1).first;
}
EXPORT __attribute__((noinline)) void __ockl_dm_dealloc(u64 address) {
  if (address) hostcall(SERVICE_MEMORY, address, 0);
}

// How many threads of the block say yes. The first barrier waits for readers of the last turn.
EXPORT __attribute__((convergent)) int __rocm_perf_syncthreads_count(int predicate) {
  static __attribute__((shared)) int count;
  int votes = __builtin_popcountll(__builtin_amdgcn_ballot_w64(predicate != 0));
  u32 lane = lane_id();
  bool leader = lane == __builtin_amdgcn_readfirstlane(lane);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  bool first = __builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workitem_id_y() + __builtin_amdgcn_workitem_id_z() == 0;
  if (first) count = 0;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (leader) __hip_atomic_fetch_add(&count, votes, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  return count;
}

#endif
