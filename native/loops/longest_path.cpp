// Longest-path passes over a graph whose edges are sorted by the node they lead to; node 0 is the origin.
#include "loops.h"

RPL_LOOP void rpl_forward(int64_t nodes, const int64_t* first, const int32_t* src, const int64_t* weight,
                          int64_t* start) {
  for (int64_t node = 1; node < nodes; ++node) {
    int64_t latest = 0;
    for (int64_t edge = first[node]; edge < first[node + 1]; ++edge) {
      const int64_t time = start[src[edge]] + weight[edge];
      if (time > latest) latest = time;
    }
    start[node] = latest;
  }
}

RPL_LOOP void rpl_backward(int64_t nodes, const int64_t* first, const int32_t* src, const int64_t* weight,
                           int64_t* latest) {
  for (int64_t node = nodes - 1; node > 0; --node) {
    const int64_t here = latest[node];
    for (int64_t edge = first[node + 1] - 1; edge >= first[node]; --edge) {
      const int64_t time = here - weight[edge];
      if (time < latest[src[edge]]) latest[src[edge]] = time;
    }
  }
}
