#include "attention/tile_mistakes.hpp"
