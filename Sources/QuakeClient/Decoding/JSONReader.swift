internal import CSimdjson

/// Parses JSON with simdjson, one text after the other. A value is valid until the next text is parsed.
final class JSONReader {
  /// The text is not JSON, or not what the caller wants.
  struct Invalid: Error {
    /// What is wrong, for the end of a sentence.
    let problem: String

    init(_ problem: String) { self.problem = problem }
  }

  /// How deep arrays and objects may be in each other.
  private static let deepest = 64

  private let parser: OpaquePointer
  /// The text, and the bytes that must be readable behind it.
  private var text: [UInt8] = []

  init() {
    guard let parser = csj_parser_create(Self.deepest) else {
      preconditionFailure("simdjson has no memory for a parser")
    }
    self.parser = parser
  }

  deinit { csj_parser_free(parser) }

  /// Parses a text that is one object.
  func object(_ text: [UInt8]) throws(Invalid) -> JSONMembers {
    self.text.removeAll(keepingCapacity: true)
    self.text += text
    self.text += repeatElement(0, count: Int(CSJ_PADDING))
    var root = csj_element()
    let error = self.text.withUnsafeBytes {
      csj_parse(parser, $0.baseAddress, text.count, &root)
    }
    guard error == 0 else {
      // Like those of `Invalid`, the messages end without a full stop.
      throw Invalid(String(cString: csj_error_message(error)))
    }
    return try JSONValue(element: root).object()
  }
}

/// A value in a text that a reader has parsed.
struct JSONValue {
  fileprivate let element: csj_element

  var isNull: Bool { element.kind == CSJ_NULL }

  func object() throws(JSONReader.Invalid) -> JSONMembers {
    try expect(CSJ_OBJECT, "an object")
    return JSONMembers(cursor: csj_object_begin(element))
  }

  func strings() throws(JSONReader.Invalid) -> [String] {
    try expect(CSJ_ARRAY, "an array")
    var cursor = csj_array_begin(element)
    var next = csj_element()
    var strings: [String] = []
    while csj_array_next(&cursor, &next) { strings.append(try JSONValue(element: next).string()) }
    return strings
  }

  func bool() throws(JSONReader.Invalid) -> Bool {
    try expect(CSJ_BOOL, "true or false")
    return csj_bool(element)
  }

  func integer() throws(JSONReader.Invalid) -> Int64 {
    try expect(CSJ_INT64, "an integer of 64 bits")
    return csj_int64(element)
  }

  func double() throws(JSONReader.Invalid) -> Double {
    guard [CSJ_DOUBLE, CSJ_INT64, CSJ_UINT64].contains(element.kind) else {
      throw JSONReader.Invalid("expected a number")
    }
    return csj_double(element)
  }

  /// The UTF-8 of a string, which no database could store with NUL in it.
  func utf8() throws(JSONReader.Invalid) -> UnsafeRawBufferPointer {
    try expect(CSJ_STRING, "a string")
    var count = 0
    let text = csj_string(element, &count)
    let bytes = UnsafeRawBufferPointer(start: text, count: count)
    guard !bytes.contains(0) else { throw JSONReader.Invalid("NUL in a string") }
    return bytes
  }

  func string() throws(JSONReader.Invalid) -> String {
    String(decoding: try utf8(), as: UTF8.self)
  }

  func optionalString() throws(JSONReader.Invalid) -> String? { isNull ? nil : try string() }

  private func expect(_ kind: csj_kind, _ what: String) throws(JSONReader.Invalid) {
    guard element.kind == kind else { throw JSONReader.Invalid("expected \(what)") }
  }
}

/// The members of an object, in the order written.
struct JSONMembers: Sequence, IteratorProtocol {
  fileprivate var cursor: csj_cursor

  mutating func next() -> (name: UnsafeRawBufferPointer, value: JSONValue)? {
    var member = csj_member()
    guard csj_object_next(&cursor, &member) else { return nil }
    return (
      UnsafeRawBufferPointer(start: member.key, count: member.key_count),
      JSONValue(element: member.value)
    )
  }
}
