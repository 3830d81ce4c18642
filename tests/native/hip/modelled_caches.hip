// What the caches still hold of an array: each line is a name and the GB/s of reading it, or ns of reading
// a word of each page or of each cache line.
#include "check.h"
#include "streams.h"

struct Array {
  float4* at = nullptr;
  size_t bytes;
  explicit Array(size_t megabytes) : bytes(megabytes << 20) { OK(hipMalloc(&at, bytes)); }
};

static float4* nothing;

template <class Launch>
double timed(Launch launch) {  // ns
  hipEvent_t before, after;
  OK(hipEventCreate(&before));
  OK(hipEventCreate(&after));
  OK(hipEventRecord(before));
  launch();
  OK(hipEventRecord(after));
  OK(hipEventSynchronize(after));
  float ms = 0;
  OK(hipEventElapsedTime(&ms, before, after));
  OK(hipEventDestroy(before));
  OK(hipEventDestroy(after));
  return 1e6 * ms;
}

double rate(const Array& array) {
  return double(array.bytes) / timed([&] { reads<<<2432, 256>>>(array.at, nothing, array.bytes / sizeof(float4)); });
}

// A word every `step`, one after the other; the values are zero.
__global__ void chase(const unsigned* in, unsigned* out, int count, int offset, unsigned step) {
  unsigned at = unsigned(offset);
  for (int i = 0; i < count; ++i) at += in[at] + step;
  *out = at;
}

// The second workgroup writes, on the second XCD.
__global__ void zeros(unsigned* out, int words) {
  if (blockIdx.x == 1)
    for (int i = int(threadIdx.x); i < words; i += int(blockDim.x)) out[i] = 0;
}

int main() {
  OK(hipMalloc(&nothing, 4096));
  // Of the larger ones only a part is simulated, of the small one everything.
  const Array small(8), quarter(64), half(128), most(192), all(320);
  auto show = [](const char* name, const Array& array) { std::printf("%s %.1f\n", name, rate(array)); };
  show("half_first", half);
  show("small_first", small);
  show("half_after_small", half);
  for (int i = 0; i < 40; ++i) rate(small);
  show("small_again", small);
  show("half_after_small_many_times", half);
  show("quarter_first", quarter);
  show("half_after_quarter", half);
  show("quarter_after_half", quarter);
  show("most_first", most);
  show("half_after_most", half);
  show("small_after_most_and_half", small);
  show("all_first", all);
  show("all_again", all);
  // The first pass has to find each page's address, the second and third only other lines of them.
  const int count = 128;
  Array fresh(2 * count);
  OK(hipMemset(fresh.at, 0, 4096));
  for (const char* name : {"page_first", "page_second", "page_third"}) {
    static int offset = 0;
    const double took = timed([&] { chase<<<1, 1>>>(reinterpret_cast<unsigned*>(fresh.at), reinterpret_cast<unsigned*>(nothing), count, offset, 1u << 19); });
    std::printf("%s %.1f\n", name, took / count);
    offset += 1024;
  }
  // An L2 keeps the lines it has read, until another XCD writes them.
  const int lines = 512, words = 32 * lines;
  const Array few(2);
  auto* few_words = reinterpret_cast<unsigned*>(few.at);
  auto line = [&](const char* name) {
    const double took = timed([&] { chase<<<1, 1>>>(few_words, reinterpret_cast<unsigned*>(nothing), lines, 0, 32); });
    std::printf("%s %.1f\n", name, took / lines);
  };
  OK(hipMemset(few.at, 0, few.bytes));
  line("line_first");
  line("line_again");
  zeros<<<2, 64>>>(few_words, words);
  line("line_written");
  line("line_written_again");
  return 0;
}
