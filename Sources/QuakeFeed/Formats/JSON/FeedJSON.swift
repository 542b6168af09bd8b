import CSimdjson
import Simdjson

extension JSONParser.SyntaxError {
  var sentence: String {
    isUTF8 ? "It is not valid UTF-8." : "It is not valid JSON: \(reason)"
  }
}

extension JSONParser {
  /// Parses a document, which `CSJ_PADDING` readable bytes must follow.
  ///
  /// JSON has no NaN, but some programs, such as Python's `json`, write it for unknown values. It is read as
  /// null.
  func parseWithNaN(_ bytes: UnsafeRawBufferPointer) throws(SyntaxError) -> csj_element {
    do throws(SyntaxError) {
      return try parse(bytes)
    } catch {
      guard let document = Self.withNullForNaN(bytes) else { throw error }
      return try parse(copying: document)
    }
  }

  /// Parses an event; one that is not JSON is rejected.
  func parseEvent(_ bytes: UnsafeRawBufferPointer) throws(Rejection) -> csj_element {
    do throws(SyntaxError) {
      return try parseWithNaN(bytes)
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
  /// A whole number, however it is written (`12`, `12.0`); nil for anything else.
  var wholeNumber: Int? {
    switch kind {
    case CSJ_INT64: Int(csj_int64(self))
    case CSJ_DOUBLE: Int(exactly: csj_double(self))
    default: nil
    }
  }

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
