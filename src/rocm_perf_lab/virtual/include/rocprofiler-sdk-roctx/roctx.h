// The newer name of roctx, with what it adds. Nothing listens to it here.
#pragma once

#include <roctracer/roctx.h>

typedef uint64_t roctx_thread_id_t;
struct hsa_agent_s;
struct ihipStream_t;

static inline int roctxProfilerPause(roctx_thread_id_t tid) { (void)tid; return 0; }
static inline int roctxProfilerResume(roctx_thread_id_t tid) { (void)tid; return 0; }
static inline int roctxNameOsThread(const char* name) { (void)name; return 0; }
static inline int roctxNameHsaAgent(const char* name, const struct hsa_agent_s* agent) { (void)name; (void)agent; return 0; }
static inline int roctxNameHipDevice(const char* name, int device) { (void)name; (void)device; return 0; }
static inline int roctxNameHipStream(const char* name, const struct ihipStream_t* stream) { (void)name; (void)stream; return 0; }
static inline int roctxGetThreadId(roctx_thread_id_t* tid) { if (tid) *tid = 0; return 0; }
