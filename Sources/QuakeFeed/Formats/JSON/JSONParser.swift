import CSimdjson

/// simdjson's parser. The result of `parse` is valid until the next call.
final class JSONParser {
  /// Why a document is not JSON.
  struct SyntaxError: Error {
    let sentence: String
  }

  private let parser: OpaquePointer
  /// Keeps the last document without NaN, to which the elements of the result refer.
  private var copy: JSONDocumentCopy?

  init() {
    // One level more than the splitter permits, for the document itself.
    guard let parser = csj_parser_create(FeatureSplitter.maximumDepth + 1) else {
      preconditionFailure("simdjson has no memory for a parser")
    }
    self.parser = parser
  }

  deinit {
    csj_parser_free(parser)
  }

  /// Parses one document; `CSJ_PADDING` readable bytes must follow it.
  ///
  /// JSON has no NaN, but some programs, such as Python's `json`, write it for unknown values. It is read as
  /// null.
  func parse(_ bytes: UnsafeRawBufferPointer) throws(SyntaxError) -> csj_element {
    var root = csj_element()
    var error = csj_parse(parser, bytes.baseAddress, bytes.count, &root)
    if error != 0, let document = Self.withNullForNaN(bytes) {
      let copy = JSONDocumentCopy(document)
      error = csj_parse(parser, copy.bytes.baseAddress, copy.bytes.count, &root)
      self.copy = copy
    }
    guard error == 0 else {
      throw SyntaxError(
        sentence: csj_error_is_utf8(error)
          ? "It is not valid UTF-8."
          : "It is not valid JSON: \(String(cString: csj_error_message(error)))")
    }
    return root
  }

  /// Parses an event; one that is not JSON is rejected.
  func parseEvent(_ bytes: UnsafeRawBufferPointer) throws(Rejection) -> csj_element {
    do throws(SyntaxError) {
      return try parse(bytes)
    } catch {
      throw Rejection(error.sentence)
    }
  }

  /// The document with `null` in place of each `NaN` that is not in a string; nil if there is none.
  private static func withNullForNaN(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    guard bytes.contains("NaN".utf8) else { return nil }
    var result: [UInt8] = []
    var isInString = false
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if !isInString, bytes[index...].starts(with: "NaN".utf8) {
        result += "null".utf8
        index += 3
        continue
      }
      if isInString, byte == UInt8(ascii: "\\"), index + 1 < bytes.count {
        result.append(byte)
        index += 1
      } else if byte == UInt8(ascii: "\"") {
        isInString.toggle()
      }
      result.append(bytes[index])
      index += 1
    }
    return result
  }
}

extension csj_element {
  /// The UTF-8 of a string; nil for anything else.
  var utf8: UnsafeRawBufferPointer? {
    guard kind == CSJ_STRING else { return nil }
    var count = 0
    let text = csj_string(self, &count)
    return UnsafeRawBufferPointer(start: text, count: count)
  }

  /// A number of any kind as a double; nil for anything else.
  var number: Double? {
    switch kind {
    case CSJ_DOUBLE: csj_double(self)
    case CSJ_INT64: Double(csj_int64(self))
    case CSJ_UINT64: Double(csj_uint64(self))
    default: nil
    }
  }

  /// A whole number, however it is written (`12`, `12.0`); nil for anything else.
  var wholeNumber: Int? {
    switch kind {
    case CSJ_INT64: Int(csj_int64(self))
    case CSJ_DOUBLE: Int(exactly: csj_double(self))
    default: nil
    }
  }

  /// The members of an object; none for anything else.
  var members: JSONMembers { JSONMembers(cursor: csj_object_begin(self)) }

  /// The elements of an array; none for anything else.
  var array: JSONElements { JSONElements(cursor: csj_array_begin(self)) }

  /// The kind of value, for a message.
  var kindName: String {
    switch kind {
    case CSJ_NULL: "null"
    case CSJ_BOOL: "true or false"
    case CSJ_STRING: "a string"
    case CSJ_ARRAY: "an array"
    case CSJ_OBJECT: "an object"
    default: "a number"
    }
  }
}

extension csj_member {
  var name: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: key, count: key_count) }

  /// Whether the member has this name.
  func isNamed(_ text: StaticString) -> Bool {
    key_count == text.utf8CodeUnitCount
      && UnsafeRawBufferPointer(start: text.utf8Start, count: key_count).elementsEqual(name)
  }
}

/// The members of an object, in the order written.
struct JSONMembers: Sequence, IteratorProtocol {
  var cursor: csj_cursor

  mutating func next() -> csj_member? {
    var member = csj_member()
    return csj_object_next(&cursor, &member) ? member : nil
  }
}

struct JSONElements: Sequence, IteratorProtocol {
  var cursor: csj_cursor

  mutating func next() -> csj_element? {
    var element = csj_element()
    return csj_array_next(&cursor, &element) ? element : nil
  }

  /// The first element, or nil.
  var first: csj_element? {
    var copy = self
    return copy.next()
  }
}

/// A copy of a small document with the padding that `JSONParser.parse` needs.
final class JSONDocumentCopy {
  let bytes: UnsafeRawBufferPointer

  init(_ document: some Collection<UInt8>) {
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: document.count + Int(CSJ_PADDING), alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    memory.copyBytes(from: document)
    bytes = UnsafeRawBufferPointer(rebasing: memory[..<document.count])
  }

  deinit {
    bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }?.deallocate()
  }
}
