import QuakeModel

/// An event that cannot be imported, with the reason.
public struct FeedReject: Sendable, Equatable {
  /// The most bytes of `raw`.
  public static let maximumRawBytes = 64 * 1024

  /// The number of the event in the feed, from 1, counting records and rejects.
  public let number: Int
  /// Its offset in the (decompressed) input.
  public let byteOffset: Int
  /// The line it begins on, counted from 1.
  public let line: Int
  /// Its code, if it could be read.
  public let code: String?
  /// The reason, as a sentence.
  public let reason: String
  /// Whether the reason is a missing or impossible origin time or time of update.
  public let isOfTime: Bool
  /// The event as written in the feed, cut to `maximumRawBytes`. Invalid UTF-8 is replaced by U+FFFD, and
  /// NUL, which PostgreSQL cannot store, by `\u0000`.
  public let raw: String

  init(number: Int, code: String?, _ rejection: Rejection, _ text: RejectedText) {
    self.number = number
    self.code = code
    byteOffset = text.offset
    line = text.line
    raw = text.raw
    reason = rejection.reason
    isOfTime = rejection.isOfTime
  }

  /// Converts any bytes to text that can be stored and printed.
  static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    var text: [UInt8] = []
    var decoder = UTF8()
    // A character has at most four bytes, so later bytes cannot matter.
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

/// The result of reading the next event of a feed.
public enum FeedItem: Sendable, Equatable {
  /// The record has been filled.
  case record
  /// The event is invalid, and the record is empty. Later events are not affected.
  case reject(FeedReject)
}

/// The reason for which an event is rejected, as a sentence. The reader adds the position.
struct Rejection: Error {
  let reason: String
  /// The column with the invalid value, if the reason is about one.
  let column: EventColumn?

  init(_ reason: String, of column: EventColumn? = nil) {
    self.reason = reason
    self.column = column
  }

  /// Whether the reason is a missing or impossible origin time or time of update.
  var isOfTime: Bool { column == .time || column == .updated }
}
