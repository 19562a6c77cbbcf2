#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Bodies of kernels, compiled with instrumentation. Each moves whole vectors between p, q and registers.
namespace traced {

void change_two_members(float4* p);
void copy(float4* p, const float4* q);
void copy_from_floats(float4* p, const float* q);
void store_constructed(float4* p, float value);
void store_braces(float4* p, float value);
void store_made(float4* p, float value);
void add_by_value(float4* p, const float4* q);
void load_if(float4* p, const float4* q, bool condition);
void accumulate(float4* p, const float4* q, int n);
void through_union(float4* p, const float4* q);
void through_read_only_cache(float4* p, const float4* q);
void integers(int4* p, const int4* q);
void doubles(double2* p, const double2* q);
void pairs(float2* p, const float2* q);
void bytes(uchar4* p, const uchar4* q);
void halves(__half2* p, const __half2* q);
float one_member(const float4* q);

}  // namespace traced
