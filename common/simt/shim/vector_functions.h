#pragma once
#include "simt_vector_types.h"
