#include "simt/check/machine_code.hpp"

#include <cstring>

namespace simt::check {
namespace {

using Does = MachineInstruction::Does;

/// Which opcodes are meant.
enum class Map : unsigned { one_byte, two_bytes, three_bytes_38, three_bytes_3a };

/// What precedes an opcode.
struct Prefixes {
  bool operand_size = false;  ///< 66
  unsigned repeat = 0;        ///< F2 or F3
  bool wide = false;          ///< REX.W, VEX.W
  bool vex = false;
  bool long_vectors = false;  ///< VEX.L: of 32 bytes
};

class Decoder {
 public:
  explicit Decoder(const std::uint8_t* code) : begin_(code), at_(code) {}

  MachineInstruction run() {
    read_prefixes();
    const unsigned opcode = *at_++;
    if (!known(opcode)) return {};
    if (has_modrm(opcode)) read_modrm();
    at_ += immediate_bytes(opcode);
    MachineInstruction found;
    found.does = what_does(opcode);
    found.floats = floats_of(opcode);
    found.target = target_;
    if (map_ == Map::one_byte && (opcode == 0xe8 || opcode == 0xe9)) {
      std::int32_t distance;
      std::memcpy(&distance, at_ - 4, 4);
      found.target = reinterpret_cast<std::uintptr_t>(at_ + distance);
    } else if (map_ == Map::one_byte && opcode == 0xeb) {
      found.target = reinterpret_cast<std::uintptr_t>(at_ + static_cast<std::int8_t>(at_[-1]));
    } else if (relative_) {
      found.target = reinterpret_cast<std::uintptr_t>(at_ + displacement_);
    }
    found.bytes = static_cast<unsigned>(at_ - begin_);
    return found;
  }

 private:
  void read_prefixes() {
    for (;; ++at_) {
      if (*at_ == 0x66)
        prefixes_.operand_size = true;
      else if (*at_ == 0xf2 || *at_ == 0xf3)
        prefixes_.repeat = *at_;
      else if (*at_ != 0x2e && *at_ != 0x36 && *at_ != 0x3e && *at_ != 0x26 && *at_ != 0x64 && *at_ != 0x65 &&
               *at_ != 0xf0)
        break;
    }
    if (*at_ == 0xc5 || *at_ == 0xc4) return read_vex();
    if ((*at_ & 0xf0u) == 0x40) prefixes_.wide = (*at_++ & 8u) != 0;
    if (*at_ != 0x0f) return;
    ++at_;
    map_ = Map::two_bytes;
    if (*at_ == 0x38)
      ++at_, map_ = Map::three_bytes_38;
    else if (*at_ == 0x3a)
      ++at_, map_ = Map::three_bytes_3a;
  }

  void read_vex() {
    static constexpr unsigned kRepeat[] = {0, 0, 0xf3, 0xf2};
    unsigned last = at_[1];
    map_ = Map::two_bytes;
    if (*at_ == 0xc4) {
      map_ = static_cast<Map>(at_[1] & 0x1fu);
      last = at_[2];
      prefixes_.wide = (last & 0x80u) != 0;
      ++at_;
    }
    at_ += 2;
    prefixes_.vex = true;
    prefixes_.repeat = kRepeat[last & 3u];
    prefixes_.operand_size = (last & 3u) == 1;
    prefixes_.long_vectors = (last & 4u) != 0;
  }

  bool known(unsigned opcode) const {
    if (map_ > Map::three_bytes_3a) return false;
    // Not of 64-bit mode, or EVEX.
    return map_ != Map::one_byte ||
           (opcode != 0x62 && opcode != 0x06 && opcode != 0x07 && opcode != 0x9a && opcode != 0xea);
  }

  bool has_modrm(unsigned opcode) const {
    if (map_ >= Map::three_bytes_38) return true;
    if (map_ == Map::two_bytes) {
      if (prefixes_.vex) return opcode != 0x77;
      const bool none = (opcode >= 0x05 && opcode <= 0x0b && opcode != 0x0a) ||
                        (opcode >= 0x30 && opcode <= 0x37) || opcode == 0x77 || (opcode & 0xf0u) == 0x80 ||
                        (opcode & 0xf8u) == 0xc8 || ((opcode & 0xf6u) == 0xa0) || opcode == 0xa2 ||
                        opcode == 0xaa;
      return !none;
    }
    if (opcode < 0x40) return (opcode & 7u) < 4;
    if (opcode < 0x60) return false;
    if (opcode < 0x70) return opcode == 0x63 || opcode == 0x69 || opcode == 0x6b;
    if (opcode < 0x80) return false;
    if (opcode < 0x90) return true;
    return opcode == 0xc0 || opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 || (opcode & 0xfcu) == 0xd0 ||
           (opcode & 0xf8u) == 0xd8 || opcode == 0xf6 || opcode == 0xf7 || opcode == 0xfe || opcode == 0xff;
  }

  void read_modrm() {
    const unsigned modrm = *at_++, mode = modrm >> 6, rm = modrm & 7u;
    reg_ = modrm >> 3 & 7u;
    if (mode == 3) return;
    bool has_base = true;
    if (rm == 4) has_base = (*at_++ & 7u) != 5 || mode != 0;
    if (mode == 1) {
      at_ += 1;
    } else if (mode == 2 || !has_base || rm == 5) {
      relative_ = mode == 0 && rm == 5;
      std::memcpy(&displacement_, at_, 4);
      at_ += 4;
    }
  }

  unsigned immediate_bytes(unsigned opcode) const {
    const unsigned full = prefixes_.operand_size ? 2 : 4;
    switch (map_) {
      case Map::three_bytes_38:
        return 0;
      case Map::three_bytes_3a:
        return 1;
      case Map::two_bytes:
        if (!prefixes_.vex && (opcode & 0xf0u) == 0x80) return 4;
        return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac || opcode == 0xba ||
                       opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6)
                   ? 1
                   : 0;
      case Map::one_byte:
        break;
    }
    if (opcode < 0x40) return (opcode & 7u) == 4 ? 1 : (opcode & 7u) == 5 ? full : 0;
    if (opcode >= 0xb8 && opcode <= 0xbf) return prefixes_.wide ? 8 : full;
    if (opcode >= 0xb0 && opcode <= 0xb7) return 1;
    if (opcode >= 0xa0 && opcode <= 0xa3) return 8;
    if ((opcode & 0xf0u) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe7)) return 1;
    switch (opcode) {
      case 0x68:
      case 0x69:
      case 0x81:
      case 0xa9:
      case 0xc7:
        return full;
      case 0xe8:
      case 0xe9:
        return 4;
      case 0x6a:
      case 0x6b:
      case 0x80:
      case 0x83:
      case 0xa8:
      case 0xc0:
      case 0xc1:
      case 0xc6:
      case 0xcd:
      case 0xeb:
        return 1;
      case 0xc2:
        return 2;
      case 0xc8:
        return 3;
      case 0xf6:
        return reg_ < 2 ? 1 : 0;
      case 0xf7:
        return reg_ < 2 ? full : 0;
      default:
        return 0;
    }
  }

  Does what_does(unsigned opcode) const {
    if (map_ == Map::one_byte) {
      if (opcode == 0xe8) return Does::call;
      if (opcode == 0xff && reg_ == 2 && relative_) return Does::call_by;
      if (opcode == 0xff && reg_ == 4) return relative_ ? Does::jump_by : Does::leaves;
      if (opcode == 0xe9 || opcode == 0xeb) return Does::jump;
      return opcode == 0xc3 ? Does::leaves : Does::other;
    }
    // VFMADD, VFMSUB, VFNMADD, VFNMSUB and their kin, of floats: 96 to 9F, A6 to AF, B6 to BF.
    if (map_ == Map::three_bytes_38)
      return prefixes_.vex && !prefixes_.wide && opcode >= 0x96 && opcode <= 0xbf && (opcode & 0xfu) >= 6
                 ? Does::fused
                 : Does::other;
    const bool of_floats = !prefixes_.operand_size && prefixes_.repeat != 0xf2;
    if (map_ != Map::two_bytes || !of_floats) return Does::other;
    switch (opcode) {
      case 0x58:
      case 0x5c:
        return Does::add;
      case 0x59:
        return Does::multiply;
      case 0x51:
      case 0x5e:
        return Does::special;
      default:
        return Does::other;
    }
  }

  /// How many floats an arithmetic instruction computes with. Those on single ones have the prefix F3; fused
  /// ones have odd opcodes that end in 9 to f, such as 0x99.
  unsigned floats_of(unsigned opcode) const {
    const bool single =
        map_ == Map::three_bytes_38 ? opcode % 2 == 1 && (opcode & 0xfu) >= 9 : prefixes_.repeat == 0xf3;
    return single ? 1 : prefixes_.long_vectors ? 8 : 4;
  }

  const std::uint8_t* begin_;
  const std::uint8_t* at_;
  Prefixes prefixes_;
  Map map_ = Map::one_byte;
  unsigned reg_ = 0;
  bool relative_ = false;  ///< the operand's address is relative to the next instruction
  std::int32_t displacement_ = 0;
  std::uintptr_t target_ = 0;
};

}  // namespace

MachineInstruction decode(const std::uint8_t* code) { return Decoder(code).run(); }

}  // namespace simt::check
