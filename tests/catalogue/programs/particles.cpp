// A step of particles of several kinds; the dead stay as they are, and places are held to a box.
#include "buffers.h"

struct Particle {
  float x;
  short charge;
  unsigned char kind, alive;
  double mass;
  int id;
};

__global__ void particles(const Particle* in, Particle* out, int n, float dt, float field, int boxed) {
  const volatile Particle* from = in;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    float x = 0.0f;
    for (int again = 0; again < 6; ++again) {
      x = from[e].x;
      if (from[e].alive) {
        switch (from[e].kind) {
          case 0: x += dt; break;
          case 1: x += (float)(dt * field * from[e].charge / from[e].mass); break;
          case 2: break;
          default: x = -x;
        }
        if (boxed && x > 1.0f) x = 1.0f;
        if (boxed && x < -1.0f) x = -1.0f;
      }
    }
    out[e].x = x;
    out[e].charge = in[e].charge;
    out[e].kind = in[e].kind;
    out[e].alive = in[e].alive;
    out[e].mass = in[e].mass;
    out[e].id = in[e].id;
  }
}

int main() {
  const int n = 2400;
  std::vector<Particle> list(n);
  for (int i = 0; i < n; ++i)
    list[i] = Particle{0.001f * (i * 31 % 901) - 0.4f, (short)(i % 7 - 3), (unsigned char)(i % 3), (unsigned char)(i % 5 != 0), 1.0 + i % 4, i};
  Particle *a = upload(list), *b = upload(list);
  particles<<<16, 64>>>(a, b, n, 0.05f, 2.0f, 0);
  particles<<<5, 128>>>(b, a, 2000, 0.1f, 1.5f, 1);
  must(hipDeviceSynchronize());
  double sum = 0.0;
  for (const Particle* held : {a, b})
    for (const Particle& p : download(held, n)) sum += p.x * (p.id % 13 + 1) + p.charge + p.kind + p.alive + p.mass;
  std::printf("particles %.4f\n", sum);
}
