import QuakeModel

/// One event that cannot be taken, and why.
public struct FeedReject: Sendable, Equatable {
  /// The most bytes that `raw` may have.
  public static let maximumRawBytes = 64 * 1024

  /// Which event of the feed it is, counted from 1; records and rejects count alike.
  public let number: Int
  /// Where in the (decompressed) input it begins.
  public let byteOffset: Int
  /// The line it begins on, counted from 1.
  public let line: Int
  /// Its code, where that much could be read.
  public let code: String?
  /// Why, as a sentence.
  public let reason: String
  /// Whether it is its origin time, or the time of its update, that is missing or makes no sense.
  public let isOfTime: Bool
  /// The event as it was written, at most `maximumRawBytes` long: cut there, invalid UTF-8 replaced
  /// by U+FFFD, and NUL, which PostgreSQL cannot store, by `\u0000`.
  public let raw: String

  init(
    number: Int, byteOffset: Int, line: Int, code: String?, rejection: Rejection,
    raw: UnsafeRawBufferPointer
  ) {
    self.number = number
    self.byteOffset = byteOffset
    self.line = line
    self.code = code
    reason = rejection.reason
    isOfTime = rejection.column == .time || rejection.column == .updated
    self.raw = Self.text(raw)
  }

  /// Bytes of any kind as text that can be stored and shown.
  static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    var text: [UInt8] = []
    var decoder = UTF8()
    // A character is at most four bytes, so no more than the limit need be looked at.
    var iterator = bytes.prefix(maximumRawBytes + 4).makeIterator()
    while true {
      let character: [UInt8]
      switch decoder.decode(&iterator) {
      case .emptyInput: return String(decoding: text, as: UTF8.self)
      case .error: character = [0xEF, 0xBF, 0xBD]
      case .scalarValue("\0"): character = Array("\\u0000".utf8)
      case .scalarValue(let scalar): character = Array(UTF8.encode(scalar) ?? .init())
      }
      guard text.count + character.count <= maximumRawBytes else {
        return String(decoding: text, as: UTF8.self)
      }
      text += character
    }
  }
}
