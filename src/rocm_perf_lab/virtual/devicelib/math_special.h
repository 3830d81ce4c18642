// The error function's family, gamma functions, Bessel functions.
#pragma once

#include "math_misc.h"

FN double erf_tail(double z) { return polynomial(z, 
      -4.230945824295338e-12, 8.709045129053106e-11, -1.216456005728345e-09,
      1.4792401209404813e-08, -1.6364642158167616e-07, 1.6462045441468418e-06,
      -1.4925647567519332e-05, 0.00012055332902888736, -0.000854832702193483,
      0.0052239776254232985, -0.02686617064512984, 0.1128379167095512, -0.37612638903183754,
      0.1283791670955126); }
FN float erf_tail(float z) { return polynomial(z, 
      -9.66704465e-06f, 0.000112659589f, -0.000848408032f, 0.00522103161f, -0.0268654302f,
      0.112837821f, -0.376126379f, 0.128379166f); }
FN double erfcx_fit(double t) { return polynomial(t, 
      2.3603010398894445e-11, 4.175645306749228e-11, -2.9679753749361834e-10,
      -5.373765873743771e-10, 2.268368209002785e-09, 3.949909948816316e-09,
      -1.554950739140137e-08, -2.186683817996548e-08, 1.110561122044458e-07,
      7.888001536183222e-08, -8.256651243681974e-07, 2.909459896658698e-07, 5.709608316143853e-06,
      -1.1220773339263308e-05, -2.439909541377841e-05, 0.0001506213142825075,
      -0.0001992567370479886, -0.0007577732211017557, 0.00503196998609679, -0.016197734065721506,
      0.03716751553662523, -0.06633036581166878, 0.09373283499839673, -0.10103906603632411,
      0.06809705425469155, 0.015379652102620024, -0.1396211168405625, 1.2329951186255526); }
FN float erfcx_fit(float t) { return polynomial(t, 
      -0.000319557847f, 0.00499323756f, -0.0164152384f, 0.0371542275f, -0.0662882477f,
      0.0937365294f, -0.101042569f, 0.0680968091f, 0.0153797586f, -0.139621109f, 1.23299515f); }

// exp(x^2) erfc(x) for x >= 0 (float: 0.9 to 10.6)
template <typename T> FN T erfcx_positive(T x) {
  T t = (x - T(4)) / (x + T(4));
  return erfcx_fit(t) / fma_(T(2), x, T(1));
}
template <typename T> FN T exp_minus_square(T x, T low) {  // exp(-(x + low)^2)
  Pair<T> z = product(x, x);
  return exp_pair(Pair<T>{-z.hi, -fma_(T(2) * x, low, z.lo)});
}
template <typename T> FN T erfc_split(T x, T low) {  // erfc(x + low)
  if (isnan_(x)) return x;
  T a = abs_(x);
  if (a < T(0.9)) {
    T z = x * x;
    Pair<T> e = fast_sum(x, x * erf_tail(z));
    return value(-e + T(1)) - low * T(1.1283791670955126) * (T(1) - z);
  }
  if (a > T(28)) return x > T(0) ? T(0) : T(2);
  T al = x > T(0) ? low : -low;
  T r = exp_minus_square(a, al) * erfcx_positive(a);
  return x > T(0) ? r : T(2) - r;
}
template <typename T> FN T erfc_(T x) { return erfc_split(x, T(0)); }
template <typename T> FN T erf_(T x) {
  T a = abs_(x);
  if (isnan_(x)) return x;
  if (a < T(0.95)) return fma_(x, erf_tail(x * x), x);
  if (a > T(6)) return copysign_(T(1), x);
  return copysign_(T(1) - exp_minus_square(a, T(0)) * erfcx_positive(a), x);
}
// A float alone: erfc as a power of 2 of a polynomial, of which erf takes no more than 0.2.
FN float erf_(float x) {
  float a = abs_(x);
  float low = fma_(x, erf_tail(x * x), x);
  float p = polynomial(a, 3.01661294e-05f, -0.000623681583f, 0.0060023726f, -0.0361993797f,
                       0.156152442f, 0.913783789f, 1.62951708f, -0.000246054755f);
  float high = a > 4.0f ? 1.0f : 1.0f - exp2_instruction(-p);
  return a < 0.95f ? low : isnan_(x) ? x : copysign_(high, x);
}
FN double erfcx_(double x) {
  if (isnan_(x)) return x;
  if (x >= 0.0) return x > 1e150 ? 0.5641895835477563 / x : erfcx_positive(x);
  if (x < -27.0) return inf_<double>();
  // 2 exp(x^2) - erfcx(-x)
  Pair<double> z = product(x, x);
  double e = exp_pair(z);
  return fma_(2.0, e, -erfcx_positive(-x));
}
FN double normcdf_(double x) {
  if (isnan_(x)) return x;
  // erfc(-x / sqrt 2) / 2, the rounding of the quotient carried along
  Pair<double> s = product(-x, 0.7071067811865476);
  s = fast_sum(s.hi, fma_(-x, -4.833646656726457e-17, s.lo));
  if (abs_(s.hi) > 28.0) return x > 0 ? 1.0 : 0.0;
  return 0.5 * erfc_split(s.hi, s.lo);
}
// Solve erfc(x) = q for 0 < q < 2 by Newton's third-order steps from a logarithmic guess.
FN double erfc_inverse(double q) {
  double p = q < 1.0 ? q : 2.0 - q;
  double t = sqrt_(-2.0 * log_(0.5 * p));
  double x = 0.7071067811865476 * (t - (2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481)));
  for (int i = 0; i < 3; ++i) {
    if (p < 1e-300) {  // the density underflows before erfc does: work in logarithms
      double f = log_(erfcx_positive(x)) - x * x - log_(p);
      x += f * erfcx_positive(x) / 1.1283791670955126;
    } else {
      double f = (erfc_(x) - p) / (1.1283791670955126 * exp_minus_square(x, 0.0));
      x += f / (1.0 - x * f);
    }
  }
  return q < 1.0 ? x : -x;
}
FN double erfcinv_(double q) {
  if (isnan_(q) || q < 0.0 || q > 2.0) return nan_<double>();
  if (q == 0.0) return inf_<double>();
  if (q == 2.0) return -inf_<double>();
  if (q > 0.5 && q < 1.5) {  // near 1: erf, which keeps the digits of 1 - q
    double y = 1.0 - q, x = 0.886226925452758 * y;
    for (int i = 0; i < 5; ++i) {
      double f = (erf_(x) - y) / (1.1283791670955126 * exp_minus_square(x, 0.0));
      x -= f / (1.0 + x * f);
    }
    return x;
  }
  return erfc_inverse(q);
}
// A float alone: erfinv(y) / y as a polynomial of -log(1 - y^2), or of its root.
FN float erfinv_(float y) {
  float a = abs_(y), q = fma_(-a, a, 1.0f);
#if defined(__HIP_DEVICE_COMPILE__)
  float w = -__builtin_logf(q);
#else
  float w = -log_(q);
#endif
  float low = polynomial(w, -8.79105677e-09f, 2.21031414e-07f, -1.97647e-06f, 3.98328302e-06f,
                         4.45650767e-05f, -0.000127481399f, -0.00233429647f, 0.0115486542f,
                         0.232013822f, 0.886226892f);
  float t = sqrt_(w) - 3.0f;
  float high = polynomial(t, 0.000102782564f, -0.000296352373f, -3.85790117e-05f, 0.00146848673f,
                          -0.00360677158f, 0.0056933919f, -0.00763528747f, 0.0094445264f,
                          1.00167489f, 2.83297682f);
  float r = y * (w < 5.0f ? low : high);
  return a == 1.0f ? copysign_(inf_<float>(), y) : a < 1.0f ? r : nan_<float>();
}
FN double erfinv_(double y) {
  double a = abs_(y);
  if (!(a <= 1.0)) return nan_<double>();
  if (a == 1.0) return copysign_(inf_<double>(), y);
  if (a < 1e-150) return y * 0.886226925452758;
  if (a < 0.5) {
    double x = 0.886226925452758 * y;
    for (int i = 0; i < 5; ++i) {
      double f = (erf_(x) - y) / (1.1283791670955126 * exp_minus_square(x, 0.0));
      x -= f / (1.0 + x * f);
    }
    return x;
  }
  return copysign_(erfc_inverse(1.0 - a), y);
}
FN double normcdfinv_(double p) { return -1.4142135623730951 * erfcinv_(2.0 * p); }

FN double lgamma_near2(double d) { return d * polynomial(d, 
      6.379047507619774e-08, -1.3412819758517287e-07, 2.0304806751615227e-07,
      -4.303558760359961e-07, 9.578663334114758e-07, -2.0449201467015115e-06,
      4.374374916915131e-06, -9.438458716242811e-06, 2.050726741605779e-05,
      -4.4926351103833334e-05, 9.945750909889392e-05, -0.00022315475074520367,
      0.0005096695248853096, -0.0011927539120010226, 0.002890510330738737, -0.0073855510286681535,
      0.02058080842778457, -0.06735230105319814, 0.3224670334241132, 0.42278433509846713); }
FN double gamma_near2(double d) { return polynomial(d, 
      -3.3362286254296347e-07, 6.672088876290777e-07, -8.964269946524431e-07,
      1.792573008733643e-06, -3.8305893736924356e-06, 7.658736710883484e-06,
      -1.5231305875647868e-05, 3.044629718059869e-05, -6.079333874268743e-05,
      0.00012167470137306104, -0.00024094140138473382, 0.0004903883819460522,
      -0.0009195738404155168, 0.0021039333438764517, -0.002852645821115082, 0.011154045718050476,
      -0.00026698206874548166, 0.07424901075351484, 0.08157691924708627, 0.4118403304264397,
      0.42278433509846713); }  // (Gamma(2 + d) - 1) / d
FN double stirling_tail(double w) { return polynomial(w, 
      -0.020855820837463117, 0.0062081367662297935, -0.001914965912162907, 0.0008417325268022405,
      -0.0005952380234291254, 0.0007936507935117282, -0.0027777777777776747, 0.08333333333333333); }

FN Pair<double> lgamma_large(double x) {  // x >= 8
  Pair<double> l = log_pair(Pair<double>{x, 0.0}, Needs::pair) + -1.0;
  Pair<double> r = l * sum(x, -0.5);
  r = r + Pair<double>{0.4189385332046727, 3.8782941580672414e-17};  // (log 2 pi - 1) / 2
  return r + stirling_tail(1.0 / (x * x)) / x;
}
FN double lgamma_positive(double x) {
  if (x >= 8.0) return x > 1e306 && x > 2.5e305 * 4 ? inf_<double>() : value(lgamma_large(x));
  if (x >= 1.5) {
    Pair<double> p = {1.0, 0.0};
    while (x > 2.5) {
      x -= 1.0;
      p = p * x;
    }
    double base = lgamma_near2(x - 2.0);
    return p.hi == 1.0 ? base : value(log_pair(p, Needs::pair) + base);
  }
  if (x >= 0.5) return value(-log1p_pair(Pair<double>{x - 1.0, 0.0}, Needs::pair) + lgamma_near2(x - 1.0));
  if (x < 1e-18) return -log_(x);
  return value(-log_pair(Pair<double>{x, 0.0} * sum(x, 1.0), Needs::pair) + lgamma_near2(x));
}
FN double lgamma_(double x) {
  if (isnan_(x)) return x;
  if (isinf_(x)) return inf_<double>();
  if (x > 0.0) return lgamma_positive(x);
  double a = abs_(x);
  if (floor_(a) == a) return inf_<double>();
  if (a < 1e-18) return -log_(a);
  double s = abs_(sinpi_(a));  // log(pi / (a |sin pi a|)) - lgamma(a)
  Pair<double> q = Pair<double>{Constants<double>::pi, Constants<double>::pi_lo} / product(a, s);
  return value(log_pair(q, Needs::pair) + -lgamma_positive(a));
}
FN Pair<double> gamma_positive(double x) {  // 0.5 <= x < 20 or so
  Pair<double> p = {1.0, 0.0};
  Pair<double> q = {1.0, 0.0};
  double low = 0.0;
  while (x > 2.5) {
    x -= 1.0;
    p = p * x;
  }
  while (x < 1.5) {
    Pair<double> y = sum(x, low);
    q = q * y;
    y = y + 1.0;
    x = y.hi;
    low = y.lo;
  }
  double d = x - 2.0;
  Pair<double> g = sum(1.0, d * gamma_near2(d) + low * 0.5);
  return (g * p) / q;
}
FN double tgamma_(double x) {
  if (isnan_(x)) return x;
  if (x == 0.0) return copysign_(inf_<double>(), x);
  if (isinf_(x)) return x > 0 ? x : nan_<double>();
  if (x < 0.0 && floor_(x) == x) return nan_<double>();
  if (x > 172.0) return inf_<double>();
  double a = abs_(x);
  if (a < 1e-300) return 1.0 / x;
  if (x < -184.0) return (i64)floor_(x) & 1 ? -0.0 : 0.0;
  Pair<double> g;
  int scale = 0;
  if (a < 18.0) {
    g = gamma_positive(a);
  } else {
    Pair<double> l = lgamma_large(a);
    Pair<double> e = expm1_small(reduce_exp(l, scale));
    Pair<double> s = fast_sum(1.0, e.hi);
    g = fast_sum(s.hi, s.lo + e.lo);
  }
  if (x > 0.0) return ldexp_(value(g), scale);
  // -pi / (a sin(pi a) Gamma(a))
  Pair<double> bottom = g * product(a, sinpi_(a));
  return ldexp_(-value(Pair<double>{Constants<double>::pi, Constants<double>::pi_lo} / bottom), -scale);
}

// Bessel functions: below 8 a fit in x^2, above 8 amplitude and phase; the error is absolute, a few
// 1e-16 (times sqrt(2 / pi x) above 8), not relative near the zeros.
FN double bessel_u(double x) { return fma_(x, x, -32.0) * 0.03125; }
FN double j0_fit(double u) { return polynomial(u, 
      4.119188501604005e-23, -2.452709043267423e-21, 1.3262931393838077e-19,
      -6.502886511901176e-18, 2.871432654679696e-16, -1.1351303470286548e-14,
      3.990826074990789e-13, -1.2384699122414587e-11, 3.3634718459325886e-10,
      -7.91540767057116e-09, 1.5956108859131898e-07, -2.717749145067604e-06,
      3.8473197857390745e-05, -0.0004435459224727048, 0.0040580789891404906,
      -0.028472718610869578, 0.14598884856759273, -0.507468045847102, 1.0383794611437211,
      -0.808088807669687, -0.6484692830871837, 0.9303012472958572, 0.04582966485981377); }
FN double j1_fit(double u) { return polynomial(u, 
      9.087347743329925e-25, -5.664523808096164e-23, 3.214409782446767e-21,
      -1.6578661044211845e-19, 7.722188524009656e-18, -3.230361737198247e-16,
      1.2060759923420843e-14, -3.9908260749899733e-13, 1.1610655427274537e-11,
      -2.943037865191016e-10, 6.431268732339062e-09, -1.1967081644348923e-07,
      1.8684525372339779e-06, -2.4045748660869218e-05, 0.0002494945813908964,
      -0.0020290394945702453, 0.01245681439225544, -0.054745818212847276, 0.15858376432721938,
      -0.2595948652859303, 0.15151665143806634, 0.08105866038589796, -0.05814382795599107); }
FN double y0_fit(double u) { return polynomial(u, 
      -9.942393754034603e-23, 5.8468196753327915e-21, -3.1198938472239003e-19,
      1.508188428372186e-17, -6.559193232747408e-16, 2.5508678674073302e-14,
      -8.810558653862417e-13, 2.6818364861016742e-11, -7.130516901249926e-10,
      1.639106511129848e-08, -3.2185077885300363e-07, 5.321318633837152e-06,
      -7.279541882784531e-05, 0.0008061586060550243, -0.007025741057269826, 0.046367047681347105,
      -0.2189574709617165, 0.6721770783431723, -1.0775477338215995, 0.14412632369302442,
      1.6470964788745466, -0.8284358903604587, -0.382250654459425); }
FN double y1_fit(double u) { return polynomial(u, 
      -2.2065277823699545e-24, 1.3589146768289643e-22, -7.61274564485037e-21,
      3.8729852156751364e-19, -1.7777704810351117e-17, 7.320646459632401e-16,
      -2.687129945774464e-14, 8.728846975754977e-13, -2.488766012891418e-11,
      6.169742573031707e-10, -1.3153322399203942e-08, 2.3804929913922264e-07,
      -3.6009998744473516e-06, 4.46743301291431e-05, -0.00044381734351146775,
      0.003422490739918046, -0.01962875683309943, 0.07854786922242545, -0.19639839859930425,
      0.23507209206669755, 0.023367571720993584, -0.24337743079193114, 0.07075985882118005); }
FN void bessel_large(double x, int n, double& j, double& y) {
  double w = 8.0 / x, z = w * w;
  double p = n ? polynomial(z, 
      9.84082167844796e-11, -7.846707061002082e-10, 2.932813230777568e-09, -6.971334048414819e-09,
      1.2297197167024457e-08, -1.841015040313318e-08, 2.731086227133966e-08,
      -4.763576237721028e-08, 1.1317408863913822e-07, -4.103048089140431e-07,
      2.580995295001314e-06, -3.5203993297701904e-05, 0.0018310546874996559, 1.0) : polynomial(z, 
      -9.295402447086312e-11, 7.407863558784577e-10, -2.7665349658556998e-09,
      6.567427583744741e-09, -1.1558696461579557e-08, 1.7236203631456218e-08,
      -2.5395434404600073e-08, 4.3812698516604005e-08, -1.0239239991285941e-07,
      3.6203309521173534e-07, -2.183919034228364e-06, 2.738088367210925e-05,
      -0.0010986328124996737, 1.0);
  double q = w * (n ? polynomial(z, 
      -1.0555534000089381e-10, 8.341325540212282e-10, -3.0760470774785113e-09,
      7.1588786032780894e-09, -1.219699084579777e-08, 1.7228425906769658e-08,
      -2.3265899844348636e-08, 3.537500849559889e-08, -7.021176710460136e-08,
      2.0300976808767121e-07, -9.505893103666689e-07, 8.470960866466581e-06,
      -0.00020027160644491584, 0.046875) : polynomial(z, 
      9.99026023129881e-11, -7.890947302910487e-10, 2.9079119519189973e-09,
      -6.7599859952994174e-09, 1.1495656939319603e-08, -1.618447724719773e-08,
      2.1732482992173238e-08, -3.274237252305468e-08, 6.410321789956966e-08,
      -1.816397742561537e-07, 8.238440109229583e-07, -6.930786160011295e-06,
      0.0001430511474605607, -0.015624999999999998));
  double c, s = sincos_(x, c);
  // cos and sin of x - pi/4 (n = 0) or x - 3 pi/4 (n = 1), times sqrt 2
  double cc = n ? s - c : c + s, ss = n ? -s - c : s - c;
  double f = 0.5641895835477563 / sqrt_(x);
  j = f * (p * cc - q * ss);
  y = f * (p * ss + q * cc);
}
FN double j0_(double x) {
  x = abs_(x);
  if (isnan_(x)) return x;
  if (isinf_(x)) return 0.0;
  if (x < 8.0) return j0_fit(bessel_u(x));
  double j, y;
  bessel_large(x, 0, j, y);
  return j;
}
FN double j1_(double x) {
  double a = abs_(x);
  if (isnan_(x)) return x;
  if (isinf_(x)) return 0.0;
  if (a < 8.0) return x * j1_fit(bessel_u(a));
  double j, y;
  bessel_large(a, 1, j, y);
  return x < 0.0 ? -j : j;
}
FN double y0_(double x) {
  if (isnan_(x) || x < 0.0) return nan_<double>();
  if (x == 0.0) return -inf_<double>();
  if (isinf_(x)) return 0.0;
  if (x < 8.0) return fma_(0.6366197723675814 * log_(x), j0_(x), y0_fit(bessel_u(x)));
  double j, y;
  bessel_large(x, 0, j, y);
  return y;
}
FN double y1_(double x) {
  if (isnan_(x) || x < 0.0) return nan_<double>();
  if (x == 0.0) return -inf_<double>();
  if (isinf_(x)) return 0.0;
  if (x < 8.0) return fma_(x, y1_fit(bessel_u(x)), 0.6366197723675814 * (log_(x) * j1_(x) - 1.0 / x));
  double j, y;
  bessel_large(x, 1, j, y);
  return y;
}
FN double jn_(int n, double x) {
  double sign = 1.0;
  if (n < 0) { n = -n; if (n & 1) sign = -sign; }
  if (x < 0.0) { x = -x; if (n & 1) sign = -sign; }
  if (isnan_(x)) return x;
  if (n == 0) return sign * j0_(x);
  if (n == 1) return sign * j1_(x);
  if (x == 0.0 || isinf_(x)) return 0.0;
  if ((double)n <= x) {  // upward recurrence is stable here
    double a = j0_(x), b = j1_(x);
    for (int k = 1; k < n; ++k) { double c = 2.0 * k / x * b - a; a = b; b = c; }
    return sign * b;
  }
  // Downward from far above, normalised by 1 = J0 + 2 (J2 + J4 + ...)
  int start = n + (int)sqrt_(60.0 * n) + 20;
  if (x > n - 40.0) start += 20;
  start &= ~1;
  double above = 0.0, here = 1e-300, total = 0.0, wanted = 0.0;
  for (int k = start; k > 0; --k) {
    double below = 2.0 * k / x * here - above;
    above = here;
    here = below;
    if (abs_(here) > 1e200) { here *= 1e-200; above *= 1e-200; total *= 1e-200; wanted *= 1e-200; }
    if (k - 1 == n) wanted = here;
    if (((k - 1) & 1) == 0) total += k - 1 ? 2.0 * here : here;
  }
  return sign * wanted / total;
}
FN double yn_(int n, double x) {
  double sign = 1.0;
  if (n < 0) { n = -n; if (n & 1) sign = -sign; }
  if (n == 0) return sign * y0_(x);
  if (n == 1) return sign * y1_(x);
  if (isnan_(x) || x < 0.0) return nan_<double>();
  if (x == 0.0) return -inf_<double>() * sign;
  double a = y0_(x), b = y1_(x);
  for (int k = 1; k < n && finite_(b); ++k) { double c = 2.0 * k / x * b - a; a = b; b = c; }
  return sign * b;
}
FN double bessel_i(double x, int n) {
  double a = abs_(x);
  if (isnan_(x)) return x;
  double r;
  if (a < 30.0) {
    double z = 0.25 * a * a, term = n ? 0.5 * a : 1.0;
    r = term;
    for (int k = 1; k < 100; ++k) {
      term *= z / ((double)k * (double)(k + n));
      r += term;
    }
  } else if (a > 720.0) {
    r = inf_<double>();
  } else {
    double w = 30.0 / a;
    double f = n ? polynomial(w, 
      -1.1020636405843984e-16, 5.80109623046826e-16, -1.8432814269329226e-15,
      2.615301928739363e-15, -6.2838969473622124e-15, -1.026529103441237e-14,
      -8.429227160346092e-14, -5.512743311468547e-13, -4.186126736649011e-12,
      -3.6364979647976595e-11, -3.7026255458483974e-10, -4.557077387417373e-09,
      -7.101938788902201e-08, -1.5150802749620292e-06, -5.194560942726988e-05,
      -0.0049867785050179084, 0.3989422804014327) : polynomial(w, 
      1.0472508956629359e-16, -5.525316400303073e-16, 1.7529544482938536e-15,
      -2.504246422984493e-15, 5.905738725939783e-15, 9.239800872217362e-15, 7.636768451997421e-14,
      4.931861923698742e-13, 3.693666433330526e-12, 3.151630781016495e-11, 3.1329908643694166e-10,
      3.7285178621462175e-09, 5.523730169149256e-08, 1.0822001964014473e-06,
      3.116736565636193e-05, 0.001662259501672636, 0.3989422804014327);
    double half = exp_(0.5 * a);
    r = half * (f / sqrt_(a)) * half;
  }
  return n && x < 0.0 ? -r : r;
}
