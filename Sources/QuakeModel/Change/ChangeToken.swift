/// A point in one particular history: all transactions up to a number.
///
/// Its text is `1042.9f3ac2d1`: the transaction's number in commit order, and its random nonce, which proves
/// that a reader with this token continues the same history. `0` is the point before the first transaction of
/// any history.
public struct ChangeToken: Hashable, Sendable {
  /// The transaction's number in commit order; 0 before the first.
  public let number: Int64
  /// Eight hexadecimal digits; 0 for `beginning`.
  private let nonce: UInt32

  /// The point before the first transaction.
  public static let beginning = ChangeToken(number: 0, nonce: 0)

  private init(number: Int64, nonce: UInt32) {
    self.number = number
    self.nonce = nonce
  }

  /// The token of transaction `number`, from 1, with its nonce as the database stores it (eight
  /// lower-case hexadecimal digits); nil if either is not of that form.
  public init?(number: Int64, nonce: some StringProtocol) {
    // The largest number is excluded, so that there is always a next one.
    guard number > 0, number < .max, nonce.utf8.count == 8 else { return nil }
    var value: UInt32 = 0
    for digit in nonce.utf8 {
      switch digit {
      case 0x30...0x39: value = value << 4 | UInt32(digit - 0x30)
      case 0x61...0x66: value = value << 4 | UInt32(digit - 0x61 + 10)
      default: return nil
      }
    }
    self.init(number: number, nonce: value)
  }

  /// Reads `1042.9f3ac2d1` or `0`; nil for anything else.
  public init?(_ text: String) {
    if text == "0" {
      self = .beginning
      return
    }
    guard let dot = text.firstIndex(of: "."), text.utf8.first != 0x30, text.utf8.first != 0x2B,
      text.utf8.first != 0x2D, let number = Int64(text[..<dot])
    else { return nil }
    self.init(number: number, nonce: text[text.index(after: dot)...])
  }
}

extension ChangeToken: CustomStringConvertible {
  /// `1042.9f3ac2d1`, or `0`.
  public var description: String {
    guard number > 0 else { return "0" }
    let hexadecimal = String(nonce, radix: 16)
    return "\(number)." + String(repeating: "0", count: 8 - hexadecimal.utf8.count) + hexadecimal
  }
}
