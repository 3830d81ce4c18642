// libhsakmt.so.1 without a driver: the 42 functions that ROCr 5.2 imports, one CPU and one gfx90a.
// Memory is the process's own. AQL queues are worked off by a thread: barriers wait and complete, a
// dispatch runs no code but adds one to the int its first argument points to. SDMA queues copy.
// Layouts are those of the thunk's ABI, version node HSAKMT_1.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kSuccess = 0, kInvalid = 3, kNoMemory = 6, kNotSupported = 11, kTimeout = 31 };
enum { kCpu = 0, kGpu = 1, kNodes = 2 };
enum { kSdma = 2, kSdmaXgmi = 5, kAql = 21 };

#pragma pack(push, 4)
typedef struct { uint32_t nodes, oem, id, revision; } System;
typedef struct {
  uint32_t cpu_cores, simds, memory_banks, caches, links, cpu_id, gpu_id, capability;
  uint32_t waves_per_simd, lds_kb, gds_kb, wave_size, shader_engines, arrays, cus_per_array, simds_per_cu, scratch_slots;
  uint32_t engine_id;
  uint16_t vendor, device;
  uint32_t location;
  uint64_t local_memory;
  uint32_t gpu_mhz, cpu_mhz;
  int32_t render_minor;
  uint16_t marketing_name[64];
  uint8_t amd_name[64];
  uint32_t firmware;
  uint64_t debug, hive;
  uint32_t sdma_engines, xgmi_engines;
  uint8_t sdma_queues, compute_queues, gws, reserved2;
  uint32_t domain;
  uint64_t unique;
  uint32_t vgpr_bytes, sgpr_bytes;
  uint8_t reserved[12];
} Node;
typedef struct { uint32_t heap; uint64_t size; uint32_t flags, width, mhz; uint64_t base; } Bank;
typedef struct { uint32_t type, major, minor, from, to, weight, min_latency, max_latency, min_bandwidth, max_bandwidth, transfer, flags; } Link;
typedef struct { uint32_t processor, level, size_kb, line, lines_per_tag, ways, latency, type, siblings[256]; } Cache;
typedef struct { uint64_t gpu, cpu, system, system_hz; } Clocks;
typedef struct { uint64_t id; uint64_t* doorbell; uint64_t* write; uint64_t* read; volatile int64_t* error; } QueueResource;
typedef struct {
  uint32_t type, node, flags;
  void* cpu_address;
  uint64_t gpu_address, size;
  uint32_t registered, mapped;
  const uint32_t *registered_nodes, *mapped_nodes;
  void* user;
} PointerInfo;
#pragma pack(pop)

// ---- memory -------------------------------------------------------------------------------------

typedef struct { char* base; uint64_t size; uint32_t node, flags, type; void* user; } Block;
static Block blocks[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static Block* holding(const void* address) {
  for (int i = 0; i < 4096; ++i)
    if (blocks[i].base && (const char*)address >= blocks[i].base && (const char*)address < blocks[i].base + blocks[i].size) return &blocks[i];
  return NULL;
}

static int add(void* base, uint64_t size, uint32_t node, uint32_t flags, uint32_t type) {
  int status = kNoMemory;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 4096 && status; ++i)
    if (!blocks[i].base) blocks[i] = (Block){base, size, node, flags, type, NULL}, status = kSuccess;
  pthread_mutex_unlock(&lock);
  return status;
}

int hsaKmtAllocMemory(uint32_t node, uint64_t size, uint32_t flags, void** address) {
  const uint64_t alignment = 2 << 20;  // more than anybody asks for
  char* at = mmap(NULL, size + alignment, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return kNoMemory;
  *address = (void*)(((uint64_t)at + alignment - 1) / alignment * alignment);
  return add(*address, size, node, flags, 1);
}
static int forget(void* address) {
  pthread_mutex_lock(&lock);
  Block* block = holding(address);
  if (block) block->base = NULL;
  pthread_mutex_unlock(&lock);
  return block ? kSuccess : kInvalid;
}
// Left mapped: a kernel of a real GPU that comes late would not be ours to crash either.
int hsaKmtFreeMemory(void* address, uint64_t size) { return (void)size, forget(address); }
int hsaKmtRegisterMemoryWithFlags(void* address, uint64_t size, uint32_t flags) { return add(address, size, kCpu, flags, 2); }
int hsaKmtDeregisterMemory(void* address) { return forget(address), kSuccess; }
int hsaKmtMapMemoryToGPU(void* address, uint64_t size, uint64_t* gpu) { return (void)size, *gpu = (uint64_t)address, kSuccess; }
int hsaKmtMapMemoryToGPUNodes(void* address, uint64_t size, uint64_t* gpu, uint32_t flags, uint64_t count, uint32_t* nodes) {
  return (void)size, (void)flags, (void)count, (void)nodes, *gpu = (uint64_t)address, kSuccess;
}
int hsaKmtUnmapMemoryToGPU(void* address) { return (void)address, kSuccess; }
int hsaKmtQueryPointerInfo(const void* address, PointerInfo* info) {
  memset(info, 0, sizeof *info);
  pthread_mutex_lock(&lock);
  const Block* block = holding(address);
  if (block) {
    info->type = block->type;
    info->node = block->node;
    info->flags = block->flags;
    info->cpu_address = block->base;
    info->gpu_address = (uint64_t)block->base;
    info->size = block->size;
    info->user = block->user;
  }
  pthread_mutex_unlock(&lock);
  return block ? kSuccess : kInvalid;
}
int hsaKmtSetMemoryUserData(const void* address, void* user) {
  pthread_mutex_lock(&lock);
  Block* block = holding(address);
  if (block) block->user = user;
  pthread_mutex_unlock(&lock);
  return block ? kSuccess : kInvalid;
}

// ---- queues -------------------------------------------------------------------------------------

typedef struct { int type; char* ring; uint64_t size; uint64_t *read, *write; uint64_t own[3]; volatile int stop; pthread_t thread; } Queue;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static int64_t* value_of(uint64_t signal) { return (int64_t*)(signal + 8); }
static void rest(void) { usleep(50); }

static void wait_for(Queue* queue, const uint64_t* signals, bool all) {
  for (bool done = false; !done && !queue->stop; rest()) {
    bool any = false, left = false, some = false;
    for (int i = 0; i < 5; ++i)
      if (signals[i]) some = true, __atomic_load_n(value_of(signals[i]), __ATOMIC_ACQUIRE) == 0 ? (any = true) : (left = true);
    done = !some || (all ? !left : any);
  }
}

static void work_packet(Queue* queue, uint64_t* packet, unsigned type) {
  const uint64_t start = now();
  if (type == 3 || type == 5) wait_for(queue, packet + 1, type == 3);
  if (type == 2) {
    int** arguments = (int**)packet[5];
    if (arguments && *arguments) ++**arguments;
  }
  if (packet[7]) {
    uint64_t* times = (uint64_t*)(packet[7] + 32);
    times[0] = start;
    times[1] = now();
    __atomic_fetch_sub(value_of(packet[7]), 1, __ATOMIC_RELEASE);
  }
}

static void work_aql(Queue* queue) {
  while (!queue->stop) {
    const uint64_t index = __atomic_load_n(queue->read, __ATOMIC_ACQUIRE);
    uint64_t* packet = (uint64_t*)(queue->ring + index * 64 % queue->size);
    const uint16_t header = __atomic_load_n((uint16_t*)packet, __ATOMIC_ACQUIRE);
    if ((header & 0xff) == 1) {
      rest();
      continue;
    }
    work_packet(queue, packet, header & 0xff);
    __atomic_store_n((uint16_t*)packet, 1, __ATOMIC_RELEASE);
    __atomic_store_n(queue->read, index + 1, __ATOMIC_RELEASE);
  }
}

// One SDMA packet; its length in words, 0 for one that is not known.
static unsigned work_sdma_packet(Queue* queue, const uint32_t* p) {
  const uint64_t first = p[1] | (uint64_t)p[2] << 32;
  switch (p[0] & 0xff) {
    case 0: return 1 + (p[0] >> 16 & 0x3fff);
    case 1: memmove((void*)(p[5] | (uint64_t)p[6] << 32), (void*)(p[3] | (uint64_t)p[4] << 32), (size_t)(p[1] & 0x3fffffff) + 1); return 7;
    case 5: __atomic_store_n((uint32_t*)first, p[3], __ATOMIC_RELEASE); return 4;
    case 6: return 2;
    case 8:
      // With an address to poll: until it is equal; without one it flushes a cache.
      while (p[0] >> 31 && !queue->stop && (__atomic_load_n((uint32_t*)first, __ATOMIC_ACQUIRE) & p[4]) != p[3]) rest();
      return 6;
    case 10: __atomic_fetch_add((uint64_t*)first, p[3] | (uint64_t)p[4] << 32, __ATOMIC_ACQ_REL); return 8;
    case 11:
      for (uint32_t i = 0; i <= p[4] / 4; ++i) ((uint32_t*)first)[i] = p[3];
      return 5;
    case 13: *(uint64_t*)first = now(); return 3;
    case 17: return 5;
    default: return 0;
  }
}

static void work_sdma(Queue* queue) {
  while (!queue->stop) {
    const uint64_t at = *queue->read, end = __atomic_load_n(queue->write, __ATOMIC_ACQUIRE);
    if (at == end) {
      rest();
      continue;
    }
    const uint32_t* packet = (const uint32_t*)(queue->ring + at % queue->size);
    const unsigned words = work_sdma_packet(queue, packet);
    if (!words) fprintf(stderr, "stub thunk: SDMA packet %#x\n", packet[0]), abort();
    __atomic_store_n(queue->read, at + words * 4, __ATOMIC_RELEASE);
  }
}

static void* work(void* data) {
  Queue* queue = data;
  queue->type == kAql ? work_aql(queue) : work_sdma(queue);
  return NULL;
}

int hsaKmtCreateQueue(uint32_t node, int type, uint32_t percentage, int priority, void* ring, uint64_t size, void* event, QueueResource* out) {
  (void)node, (void)percentage, (void)priority, (void)event;
  if (type != kAql && type != kSdma && type != kSdmaXgmi) return kNotSupported;
  Queue* queue = calloc(1, sizeof *queue);
  queue->type = type;
  queue->ring = ring;
  queue->size = size;
  if (type != kAql) out->write = &queue->own[0], out->read = &queue->own[1];
  out->doorbell = &queue->own[2];
  queue->read = out->read;
  queue->write = out->write;
  out->id = (uint64_t)queue;
  return pthread_create(&queue->thread, NULL, work, queue) ? kNoMemory : kSuccess;
}
int hsaKmtDestroyQueue(uint64_t id) {
  Queue* queue = (Queue*)id;
  queue->stop = 1;
  pthread_join(queue->thread, NULL);
  return kSuccess;
}
int hsaKmtUpdateQueue(uint64_t id, uint32_t percentage, int priority, void* ring, uint64_t size, void* event) {
  return (void)id, (void)percentage, (void)priority, (void)ring, (void)size, (void)event, kSuccess;
}
int hsaKmtSetQueueCUMask(uint64_t id, uint32_t count, uint32_t* mask) { return (void)id, (void)count, (void)mask, kSuccess; }
int hsaKmtAllocQueueGWS(uint64_t id, uint32_t count, uint32_t* first) { return (void)id, (void)count, *first = 0, kSuccess; }

// ---- topology -----------------------------------------------------------------------------------

int hsaKmtOpenKFD(void) { return kSuccess; }
int hsaKmtCloseKFD(void) { return kSuccess; }
int hsaKmtGetVersion(uint32_t* version) { return version[0] = 1, version[1] = 11, kSuccess; }
int hsaKmtRuntimeEnable(void* debug, bool setup) { return (void)debug, (void)setup, kNotSupported; }
int hsaKmtRuntimeDisable(void) { return kSuccess; }
int hsaKmtAcquireSystemProperties(System* out) { return *out = (System){kNodes, 0, 0, 0}, kSuccess; }
int hsaKmtReleaseSystemProperties(void) { return kSuccess; }

int hsaKmtGetNodeProperties(uint32_t node, Node* out) {
  memset(out, 0, sizeof *out);
  if (node >= kNodes) return kInvalid;
  if (node == kCpu) {
    out->cpu_cores = 2;
    out->caches = 2;
    out->memory_banks = 1;
    out->links = 1;
    return kSuccess;
  }
  out->simds = 416;
  out->memory_banks = 2;
  out->caches = 2;
  out->links = 1;
  out->capability = 2u << 12 | 1u << 26;  // doorbells of gfx9, ECC in SRAM
  out->waves_per_simd = 8;
  out->lds_kb = 64;
  out->wave_size = 64;
  out->shader_engines = 8;
  out->arrays = 1;
  out->cus_per_array = 14;
  out->simds_per_cu = 4;
  out->scratch_slots = 32;
  out->engine_id = 9u << 10 | 0u << 16 | 10u << 24 | 50;
  out->vendor = 0x1002;
  out->device = 0x7408;
  out->gpu_mhz = 1700;
  out->render_minor = 128;
  memcpy(out->amd_name, "stub", 5);
  for (int i = 0; "Stub gfx90a"[i]; ++i) out->marketing_name[i] = (uint16_t)"Stub gfx90a"[i];
  out->sdma_engines = 2;
  out->sdma_queues = 8;
  out->compute_queues = 24;
  out->unique = 1;
  return kSuccess;
}

int hsaKmtGetNodeMemoryProperties(uint32_t node, uint32_t count, Bank* out) {
  memset(out, 0, count * sizeof *out);
  if (node == kCpu) out[0] = (Bank){0, (uint64_t)16 << 30, 0, 64, 1600, 0};
  if (node == kGpu) out[0] = (Bank){2, (uint64_t)8 << 30, 0, 4096, 1600, 0};
  if (node == kGpu && count > 1) out[1] = (Bank){4, 64 << 10, 0, 0, 0, (uint64_t)1 << 48};
  return kSuccess;
}
int hsaKmtGetNodeCacheProperties(uint32_t node, uint32_t processor, uint32_t count, Cache* out) {
  (void)processor;
  memset(out, 0, count * sizeof *out);
  for (uint32_t i = 0; i < count; ++i) out[i].level = i + 1, out[i].size_kb = i ? 8192 : 16, out[i].line = 128, out[i].type = 1u | (node == kGpu ? 1u << 3 : 1u << 2);
  return kSuccess;
}
int hsaKmtGetNodeIoLinkProperties(uint32_t node, uint32_t count, Link* out) {
  memset(out, 0, count * sizeof *out);
  if (count) out[0].type = 2, out[0].from = node, out[0].to = 1 - node, out[0].weight = 20;
  return kSuccess;
}
int hsaKmtGetClockCounters(uint32_t node, Clocks* out) {
  (void)node;
  out->gpu = out->cpu = out->system = now();
  out->system_hz = 1000000000;
  return kSuccess;
}
int hsaKmtGetTileConfig(uint32_t node, void* out) { return (void)node, (void)out, kSuccess; }
int hsaKmtGetXNACKMode(int32_t* on) { return *on = 0, kSuccess; }
int hsaKmtSetXNACKMode(int32_t on) { return (void)on, kSuccess; }
int hsaKmtSetMemoryPolicy(uint32_t node, uint32_t first, uint32_t second, void* base, uint64_t size) {
  return (void)node, (void)first, (void)second, (void)base, (void)size, kSuccess;
}
int hsaKmtSetTrapHandler(uint32_t node, void* code, uint64_t size, void* data, uint64_t data_size) {
  return (void)node, (void)code, (void)size, (void)data, (void)data_size, kSuccess;
}

// ---- what nobody uses with HSA_ENABLE_INTERRUPT=0 -------------------------------------------------

int hsaKmtCreateEvent(void* wanted, bool manual, bool set, void** event) {
  return (void)wanted, (void)manual, (void)set, *event = calloc(1, 256), kSuccess;
}
int hsaKmtDestroyEvent(void* event) { return free(event), kSuccess; }
int hsaKmtSetEvent(void* event) { return (void)event, kSuccess; }
int hsaKmtWaitOnEvent(void* event, uint32_t milliseconds) { return (void)event, usleep(milliseconds > 20 ? 20000 : milliseconds * 1000), kTimeout; }
int hsaKmtWaitOnMultipleEvents(void** events, uint32_t count, bool all, uint32_t milliseconds) {
  return (void)count, (void)all, hsaKmtWaitOnEvent(events, milliseconds);
}
int hsaKmtShareMemory(void* a, uint64_t b, void* c) { return (void)a, (void)b, (void)c, kNotSupported; }
int hsaKmtRegisterSharedHandle(void* a, void** b, uint64_t* c) { return (void)a, (void)b, (void)c, kNotSupported; }
int hsaKmtRegisterSharedHandleToNodes(void* a, void** b, uint64_t* c, uint64_t d, uint32_t* e) { return (void)a, (void)b, (void)c, (void)d, (void)e, kNotSupported; }
int hsaKmtRegisterGraphicsHandleToNodes(uint64_t a, void* b, uint64_t c, uint32_t* d) { return (void)a, (void)b, (void)c, (void)d, kNotSupported; }
int hsaKmtSVMGetAttr(void* a, uint64_t b, unsigned c, void* d) { return (void)a, (void)b, (void)c, (void)d, kNotSupported; }
int hsaKmtSVMSetAttr(void* a, uint64_t b, unsigned c, void* d) { return (void)a, (void)b, (void)c, (void)d, kNotSupported; }
