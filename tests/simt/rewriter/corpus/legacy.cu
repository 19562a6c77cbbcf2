// Old habits: kernels before types, everything on one line, comments in all places.
#include <cuda_runtime.h>
const int BLOCK=16;
typedef struct { int w,h; float*e; } Matrix;
__global__ void MatMulKernel(const Matrix,const Matrix,Matrix);
void MatMul(const Matrix A,const Matrix B,Matrix C){
dim3 b(BLOCK,BLOCK);dim3 g(B.w/b.x,A.h/b.y);MatMulKernel<<<g,b>>>(A,B,C);MatMulKernel/*name*/<<</*grid*/g/**/,/*block*/b/*>>>*/>>>/*args*/(/**/A,B,C/*)*/);cudaDeviceSynchronize();}
__global__ void MatMulKernel(Matrix A,Matrix B,Matrix C){float v=0;int r=blockIdx.y*blockDim.y+threadIdx.y,c=blockIdx.x*blockDim.x+threadIdx.x;
__shared__ float As[BLOCK][BLOCK];__shared__ float Bs[BLOCK][BLOCK];
for(int m=0;m<A.w/BLOCK;++m){As[threadIdx.y][threadIdx.x]=A.e[r*A.w+m*BLOCK+threadIdx.x];Bs[threadIdx.y][threadIdx.x]=B.e[(m*BLOCK+threadIdx.y)*B.w+c];
__syncthreads();for(int e=0;e<BLOCK;++e)v+=As[threadIdx.y][e]*Bs[e][threadIdx.x];__syncthreads();}
C.e[r*C.w+c]=v;}
