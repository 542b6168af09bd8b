internal import CSimdjson
internal import Simdjson

/// A text is not JSON, or not what the caller wants.
struct InvalidJSON: Error {
  /// What is wrong, for the end of a sentence.
  let problem: String

  init(_ problem: String) { self.problem = problem }
}

extension JSONParser {
  /// Parses a text that is one object.
  func object(_ text: [UInt8]) throws(InvalidJSON) -> JSONMembers {
    let root: csj_element
    do throws(SyntaxError) {
      root = try parse(copying: text)
    } catch {
      throw InvalidJSON(error.reason)
    }
    return try root.object()
  }
}

extension csj_element {
  var isNull: Bool { kind == CSJ_NULL }

  func object() throws(InvalidJSON) -> JSONMembers {
    try expect(CSJ_OBJECT, "an object")
    return members
  }

  func strings() throws(InvalidJSON) -> [String] {
    try expect(CSJ_ARRAY, "an array")
    var strings: [String] = []
    for element in array { strings.append(try element.string()) }
    return strings
  }

  func bool() throws(InvalidJSON) -> Bool {
    try expect(CSJ_BOOL, "true or false")
    return csj_bool(self)
  }

  func integer() throws(InvalidJSON) -> Int64 {
    try expect(CSJ_INT64, "an integer of 64 bits")
    return csj_int64(self)
  }

  func double() throws(InvalidJSON) -> Double {
    guard let number else { throw InvalidJSON("expected a number") }
    return number
  }

  /// The UTF-8 of a string, which no database could store with NUL in it.
  func text() throws(InvalidJSON) -> UnsafeRawBufferPointer {
    guard let utf8 else { throw InvalidJSON("expected a string") }
    guard !utf8.contains(0) else { throw InvalidJSON("NUL in a string") }
    return utf8
  }

  func string() throws(InvalidJSON) -> String { String(decoding: try text(), as: UTF8.self) }

  func optionalString() throws(InvalidJSON) -> String? { isNull ? nil : try string() }

  private func expect(_ kind: csj_kind, _ what: String) throws(InvalidJSON) {
    guard self.kind == kind else { throw InvalidJSON("expected \(what)") }
  }
}
