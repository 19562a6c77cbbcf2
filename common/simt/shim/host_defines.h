#pragma once
#include "simt_qualifiers.h"
