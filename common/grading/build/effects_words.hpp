#pragma once
/// @file
/// Words of assembly, and sentences, that the parts of effects.hpp share.

#include <string>
#include <string_view>

namespace course::grading {

/// @brief The word that a line of assembly begins with.
std::string_view first_word(std::string_view line);

/// @brief A name as it may be shown: hostile ones are long, and hold what a terminal obeys.
std::string shown(std::string_view name);

/// @brief The name that a line of assembly gives a place, by a label, or `.set`, or `.comm`; "" if it gives
/// none. `word` is the one that it begins with.
std::string_view defined_name(std::string_view word, std::string_view line);

/// @brief Directives with texts in quotation marks, or such that some names must stand in.
bool has_texts(std::string_view directive);

/// @brief "simt_lane" of "call\tsimt_lane@PLT"; "" if no such name stands there.
std::string_view own_name(std::string_view line);

/// @brief Whether the compiler calls functions of such a name by itself, where it watches code.
bool is_for_hooks(std::string_view name);

/// @brief Whether it is the name of a function that the compiler writes by itself, which moves the pointer to
/// an object and then is the virtual function: of a class with several bases, or virtual ones.
bool is_thunk(std::string_view name);

/// @brief The sentence for what has a register or a label by asm.
std::string in_a_register(std::string_view variable);

/// @brief The sentence for a call of a function of the simulator's own.
std::string calls_the_simulator(std::string_view name);

}  // namespace course::grading
