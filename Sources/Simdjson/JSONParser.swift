public import CSimdjson

/// simdjson's parser, for one document after the other. The values of a document are valid until the next one is parsed.
public final class JSONParser {
  /// A document is not JSON.
  public struct SyntaxError: Error {
    /// simdjson's reason, for the end of a sentence.
    public let reason: String
    /// Whether it is about the encoding, not the syntax.
    public let isUTF8: Bool
  }

  private let parser: OpaquePointer
  /// The document, with the bytes that must be readable after it.
  private var copy: [UInt8] = []

  /// How deep arrays and objects may be in each other.
  public static let maximumDepth = 65

  /// A parser without a document.
  public init() {
    guard let parser = csj_parser_create(Self.maximumDepth) else {
      preconditionFailure("simdjson has no memory for a parser")
    }
    self.parser = parser
  }

  deinit { csj_parser_free(parser) }

  /// Parses a document in place; `CSJ_PADDING` readable bytes must follow it.
  public func parse(_ bytes: UnsafeRawBufferPointer) throws(SyntaxError) -> csj_element {
    var root = csj_element()
    let error = csj_parse(parser, bytes.baseAddress, bytes.count, &root)
    guard error == 0 else {
      throw SyntaxError(
        reason: String(cString: csj_error_message(error)), isUTF8: csj_error_is_utf8(error))
    }
    return root
  }

  /// Parses a copy of a document, which needs no bytes after it.
  public func parse(copying document: [UInt8]) throws(SyntaxError) -> csj_element {
    copy.removeAll(keepingCapacity: true)
    copy += document
    copy += repeatElement(0, count: Int(CSJ_PADDING))
    // The values do not refer to it: simdjson copies their text.
    return try copy.withUnsafeBufferPointer { bytes throws(SyntaxError) in
      try parse(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<document.count]))
    }
  }
}
