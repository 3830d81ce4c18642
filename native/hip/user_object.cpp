#include "user_object.h"

#include <atomic>

#include "api_impl.h"
#include "graph.h"

struct hipUserObject {
  void* data;
  hipHostFn_t destroy;
  std::atomic<unsigned> references;
};

namespace hip {

void retain_user_object(hipUserObject_t object, unsigned count) { object->references += count; }

void release_user_object(hipUserObject_t object, unsigned count) {
  if (object->references.fetch_sub(count) != count) return;
  object->destroy(object->data);
  delete object;
}

hipError_t hipUserObjectCreate(hipUserObject_t* object_out, void* ptr, hipHostFn_t destroy,
                               unsigned int initialRefcount, unsigned int flags) {
  if (!object_out || !destroy || initialRefcount == 0 || flags != hipUserObjectNoDestructorSync)
    return hipErrorInvalidValue;
  *object_out = new hipUserObject{ptr, destroy, {initialRefcount}};
  return hipSuccess;
}
hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned int count) {
  if (!object || count == 0 || object->references < count) return hipErrorInvalidValue;
  release_user_object(object, count);
  return hipSuccess;
}
hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned int count) {
  if (!object || count == 0) return hipErrorInvalidValue;
  retain_user_object(object, count);
  return hipSuccess;
}
hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count, unsigned int flags) {
  if (!graph || !object || count == 0 || flags > hipGraphUserObjectMove) return hipErrorInvalidValue;
  if (flags != hipGraphUserObjectMove) retain_user_object(object, count);
  graph->user_objects[object] += count;
  return hipSuccess;
}
hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count) {
  if (!graph || !object || count == 0) return hipErrorInvalidValue;
  auto held = graph->user_objects.find(object);
  if (held == graph->user_objects.end() || held->second < count) return hipErrorInvalidValue;
  held->second -= count;
  if (held->second == 0) graph->user_objects.erase(held);
  release_user_object(object, count);
  return hipSuccess;
}

}  // namespace hip
