#include "traced_kernels.hpp"

namespace traced {
namespace {

float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

union Lanes {
  float4 vector;
  float lane[4];
};

}  // namespace

void change_two_members(float4* p) {
  float4 v = *p;
  v.x += 1;
  v.z *= v.w;
  *p = v;
}
void copy(float4* p, const float4* q) { *p = *q; }
void copy_from_floats(float4* p, const float* q) { *p = *reinterpret_cast<const float4*>(q); }
void store_constructed(float4* p, float value) { *p = float4{value, 2 * value, 3, 4}; }
void store_braces(float4* p, float value) { *p = {value, 2 * value, 3, 4}; }
void store_made(float4* p, float value) { *p = make_float4(value, 2 * value, 3, 4); }
void add_by_value(float4* p, const float4* q) { *p = *p + *q; }
void load_if(float4* p, const float4* q, bool condition) {
  float4 v = condition ? *q : make_float4(0, 0, 0, 0);
  v.x += 1;
  *p = v;
}
void accumulate(float4* p, const float4* q, int n) {
  float4 sum = {};
  for (int i = 0; i < n; ++i) {
    const float4 v = q[i];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  *p = sum;
}
void through_union(float4* p, const float4* q) {
  Lanes lanes;
  lanes.vector = *q;
  for (float& lane : lanes.lane) lane *= 2;
  *p = lanes.vector;
}
void through_read_only_cache(float4* p, const float4* q) {
  float4 v = __ldg(q);
  v.y = 0;
  __stcs(p, v);
}
void integers(int4* p, const int4* q) {
  int4 v = *q;
  v.x ^= v.w;
  *p = make_int4(v.x, v.y, v.z, v.w);
}
void doubles(double2* p, const double2* q) {
  const double2 v = *q;
  *p = {v.y, v.x};
}
void pairs(float2* p, const float2* q) {
  const float2 v = *q;
  *p = make_float2(v.y, v.x);
}
void bytes(uchar4* p, const uchar4* q) {
  const uchar4 v = *q;
  *p = make_uchar4(v.w, v.z, v.y, v.x);
}
void halves(__half2* p, const __half2* q) {
  const __half2 v = *q;
  *p = __halves2half2(v.y, v.x);
}
float one_member(const float4* q) { return q->z; }

}  // namespace traced
