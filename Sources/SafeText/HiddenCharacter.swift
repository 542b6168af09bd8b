/// Invisible characters that change the display of the text around them: they can control a terminal, reverse
/// the order of letters, or carry hidden text.
///
/// They are Unicode's general categories Cc, Cf, Zl, Zp and Co (Cs cannot be encoded), and neighbouring code
/// points that are reserved for such characters. Variation selectors are not included: each affects only the
/// character before it, and Japanese names and emoji need them.
public enum HiddenCharacter {
  /// Whether the character with this code point is one. Line breaks and tabs are.
  public static func includes(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x00...0x1F, 0x7F...0x9F: true  // C0, DEL, C1
    case 0x0020...0x00AC: false  // fast path for most text
    case 0x00AD, 0x061C, 0x180E, 0xFEFF: true
    case 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F: true
    case 0x0600...0x0605, 0x06DD, 0x070F, 0x0890...0x0891, 0x08E2: true
    case 0xE000...0xF8FF, 0xFFF0...0xFFFB: true
    case 0x110BD, 0x110CD, 0x13430...0x1343F, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A: true
    case 0xE0000...0xE00FF, 0xE01F0...0xE0FFF: true  // tags; between them variation selectors
    case 0xF0000...0x10FFFF: true
    default: false
    }
  }
}
