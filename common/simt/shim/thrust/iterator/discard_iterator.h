#pragma once
#include "../../simt_thrust.h"
