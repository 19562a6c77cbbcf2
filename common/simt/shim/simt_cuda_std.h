#pragma once
// cuda::std is the host's standard library under another name: device code is host code here.

#include <cstddef>

namespace cuda::std {
using namespace ::std;
}
