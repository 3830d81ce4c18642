// Days since 1970 to the date as a number yyyymmdd, from 1600 to 2169; others are -1. With the day of the week, if asked.
#include "buffers.h"

__global__ void caldate(const int* days, int* out, int n, int weekday) {
  const volatile int* from = days;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    int date = -1, d = from[e], day = d;
    if (d >= -135140 && d < 73048) {
      int year = 1970;
      while (d < 0) {
        --year;
        d += year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 366 : 365;
      }
      for (;;) {
        int length = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 366 : 365;
        if (d < length) break;
        d -= length;
        ++year;
      }
      int month = 1;
      for (;; ++month) {
        int length = month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
        if (month == 2) length = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
        if (d < length) break;
        d -= length;
      }
      date = year * 10000 + month * 100 + d + 1;
      if (weekday) date = date * 10 + ((day + 4) % 7 + 7) % 7;
    }
    out[e] = date;
  }
}

int main() {
  const int n = 2000;
  std::vector<int> d(n);
  for (int i = 0; i < n; ++i) d[i] = i * 7919 % 11000 + 12000;
  int* days = upload(d);
  int* out = upload(std::vector<int>(n, 0));
  caldate<<<16, 64>>>(days, out, n, 0);
  print_sum("dates", download(out, n));
  caldate<<<5, 128>>>(days + 7, out, 1500, 1);
  must(hipDeviceSynchronize());
  print_sum("weekdays", download(out, n));
}
