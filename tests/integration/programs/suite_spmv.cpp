// Sparse matrix times vector, compressed rows, one thread per row: as benchmark suites have it.
#include "../../../examples/check.h"

__global__ void spmv(const int* starts, const int* columns, const float* values, const float* x,
                     float* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

int main() {
  const int rows = 2048;
  Random random(3);
  std::vector<int> starts(1, 0), columns;
  std::vector<float> values, x = random.values(rows);
  for (int r = 0; r < rows; ++r) {
    int count = 4 + random.bits() % 28;
    for (int k = 0; k < count; ++k) columns.push_back(random.bits() % rows);
    starts.push_back(static_cast<int>(columns.size()));
  }
  values = random.values(columns.size());
  std::vector<double> want(rows, 0.0);
  for (int r = 0; r < rows; ++r)
    for (int k = starts[r]; k < starts[r + 1]; ++k) want[r] += static_cast<double>(values[k]) * x[columns[k]];
  Buffer<int> ds(starts), dc(columns);
  Buffer<float> dv(values), dx(x), dy(rows);
  spmv<<<divide_up(rows, 64), 64>>>(ds, dc, dv, dx, dy, rows);
  HIP_CHECK(hipGetLastError());
  return verdict("spmv", max_error(dy.download(), want), 1e-4);
}
