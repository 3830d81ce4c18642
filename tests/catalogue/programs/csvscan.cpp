// Fields of lines of text: quotes hide the delimiter, a doubled quote is one, and escapes may be allowed.
#include "buffers.h"

__global__ void csvscan(const unsigned char* text, const int* starts, int* fields, int* widest, int lines, int delim, int escapes) {
  const volatile unsigned char* from = text;
  int step = gridDim.x * blockDim.x;
  for (int l = blockIdx.x * blockDim.x + threadIdx.x; l < lines; l += step) {
    int count = 0, wide = 0;
    for (int again = 0; again < 5; ++again) {
      int begin = starts[l], end = starts[l + 1], size = 0, quoted = 0;
      count = wide = 0;
      for (int i = begin; i < end; ++i) {
        int c = from[i];
        if (escapes && c == '\\' && i + 1 < end) {
          ++i;
          ++size;
        } else if (c == '"') {
          if (quoted && i + 1 < end && from[i + 1] == '"') {
            ++i;
            ++size;
          } else {
            quoted = !quoted;
          }
        } else if (c == delim && !quoted) {
          ++count;
          wide = max(wide, size);
          size = 0;
        } else {
          ++size;
        }
      }
      if (end > begin) ++count;
      wide = max(wide, size);
      if (quoted) count = -count;
    }
    fields[l] = count;
    widest[l] = wide;
  }
}

int main() {
  const int lines = 400;
  std::vector<unsigned char> t;
  std::vector<int> s(1, 0);
  for (int l = 0; l < lines; ++l) {
    for (int i = 0; i < 12 + l % 9; ++i) t.push_back("ab,c;de,fgh,i"[(l * 5 + i * 3) % 13]);
    if (l % 4 == 1) for (char c : {',', '"', 'x', ',', 'y', '"'}) t.push_back(c);
    s.push_back(t.size());
  }
  unsigned char* text = upload(t);
  int* starts = upload(s);
  int* fields = upload(std::vector<int>(lines, 0));
  int* widest = upload(std::vector<int>(lines, 0));
  csvscan<<<7, 64>>>(text, starts, fields, widest, lines, ',', 0);
  print_sum("fields", download(fields, lines));
  csvscan<<<2, 128>>>(text, starts + 3, fields, widest, 300, ';', 1);
  must(hipDeviceSynchronize());
  print_sum("fields", download(fields, lines));
  print_sum("widest", download(widest, lines));
}
