// What a program sees of its own time by events, with everything between them: shortest paths between
// nodes, whose matrices are set again from the host before each sweep, and copies.
#include <algorithm>

#include "check.h"

__global__ void pass(int* distance, int* path, int nodes, int k) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int through = distance[y * nodes + k] + distance[k * nodes + x];
  if (through < distance[y * nodes + x]) {
    distance[y * nodes + x] = through;
    path[y * nodes + x] = k;
  }
}

template <class Work>
void time(const char* name, int size, Work work) {
  hipEvent_t before, after;
  OK(hipEventCreate(&before));
  OK(hipEventCreate(&after));
  float best = 1e30f;
  for (int i = 0; i < 3; ++i) {
    OK(hipEventRecord(before));
    work();
    OK(hipDeviceSynchronize());
    OK(hipEventRecord(after));
    OK(hipEventSynchronize(after));
    float ms = 0;
    OK(hipEventElapsedTime(&ms, before, after));
    best = std::min(best, ms);
  }
  std::printf("%s_%d %.3f\n", name, size, 1000 * best);
}

int main() {
  for (int nodes : {8, 32, 128}) {
    std::vector<int> weights(nodes * nodes), none(nodes * nodes);
    std::srand(1);
    for (int i = 0; i < nodes * nodes; ++i) weights[i] = i % (nodes + 1) ? std::rand() % 100 + 1 : 0;
    const size_t bytes = weights.size() * sizeof(int);
    int *distance, *path;
    OK(hipMalloc(&distance, bytes));
    OK(hipMalloc(&path, bytes));
    time("sweep", nodes, [&] {
      OK(hipMemcpy(distance, weights.data(), bytes, hipMemcpyHostToDevice));
      OK(hipMemcpy(path, none.data(), bytes, hipMemcpyHostToDevice));
      for (int k = 0; k < nodes; ++k) pass<<<dim3(nodes / 8, nodes / 8), dim3(8, 8)>>>(distance, path, nodes, k);
    });
  }
  constexpr int kMegabytes = 4;
  std::vector<char> host(kMegabytes << 20);
  char *here, *there;
  OK(hipMalloc(&here, host.size()));
  OK(hipMalloc(&there, host.size()));
  time("to_device", kMegabytes, [&] { OK(hipMemcpy(here, host.data(), host.size(), hipMemcpyHostToDevice)); });
  time("to_host", kMegabytes, [&] { OK(hipMemcpy(host.data(), here, host.size(), hipMemcpyDeviceToHost)); });
}
