internal import Glibc

/// Splits the bytes of a stream into Server-Sent Events, however they are cut into pieces.
///
/// An event counts when the empty line after it has come: what a lost connection leaves is dropped.
struct EventParser {
  private var bytes: [UInt8] = []
  /// The beginning of the next line, and how far its end has been looked for.
  private var line = 0
  private var searched = 0
  private var event = ServerSentEvent()

  /// The longest line, and the longest event, in bytes. A change has two events of half a megabyte of text at
  /// most, each byte of which takes up to six.
  static let longest = 16 << 20

  mutating func append(_ more: [UInt8]) {
    if line > 0 {
      bytes.removeFirst(line)
      searched -= line
      line = 0
    }
    if bytes.isEmpty { bytes = more } else { bytes.append(contentsOf: more) }
  }

  /// The next complete event; nil if more bytes have to come first.
  mutating func next() throws(ServerError) -> ServerSentEvent? {
    while let end = endOfLine() {
      let range = line..<(end > line && bytes[end - 1] == 0x0D ? end - 1 : end)
      line = end + 1
      searched = line
      guard range.isEmpty else {
        try take(range)
        continue
      }
      let complete = event
      event = ServerSentEvent()
      // Comments alone, or an id without data, are no event.
      if !complete.data.isEmpty { return complete }
    }
    guard bytes.count - line <= Self.longest else { throw Self.tooLong }
    return nil
  }

  private mutating func endOfLine() -> Int? {
    let end = bytes.withUnsafeBytes { all -> Int? in
      guard let start = all.baseAddress, searched < all.count,
        let found = memchr(start + searched, 0x0A, all.count - searched)
      else { return nil }
      return UnsafeRawPointer(found) - start
    }
    if end == nil { searched = bytes.count }
    return end
  }

  private mutating func take(_ range: Range<Int>) throws(ServerError) {
    let text = bytes[range]
    let name = text.prefix { $0 != 0x3A }
    var value = text[name.endIndex...].dropFirst()
    if value.first == 0x20 { value = value.dropFirst() }
    // A line that begins with a colon is a comment, with which proxies keep connections open.
    if name.elementsEqual("data".utf8) {
      if !event.data.isEmpty { event.data.append(0x0A) }
      guard event.data.count + value.count <= Self.longest else { throw Self.tooLong }
      event.data.append(contentsOf: value)
    } else if name.elementsEqual("event".utf8) {
      event.name = String(decoding: value.prefix(100), as: UTF8.self)
    } else if name.elementsEqual("id".utf8) {
      event.id = String(decoding: value.prefix(100), as: UTF8.self)
    } else if name.elementsEqual("predecessor".utf8) {
      event.predecessor = String(decoding: value.prefix(100), as: UTF8.self)
    }
  }

  private static let tooLong = ServerError(
    .badAnswer, "the server sent an event of more than \(longest >> 20) MB",
    hint: "Check that --url names a quake-serve.")
}

struct ServerSentEvent {
  /// The name; empty for a change.
  var name = ""
  /// The id of this event; nil if it has none.
  var id: String?
  /// The token of the transaction before that of this change, if it is the first of its transaction. Servers before
  /// this field name none.
  var predecessor: String?
  var data: [UInt8] = []
}
