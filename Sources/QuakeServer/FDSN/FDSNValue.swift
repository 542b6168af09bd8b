import QuakeModel

/// A value of a parameter, as the client sent it. Its errors are the sentences of USGS's service.
struct FDSNValue {
  let parameter: FDSNParameter
  /// The name that the client used.
  let name: String
  let text: String

  private func bad(_ valid: String) -> HTTPError {
    HTTPError(400, "Bad \(name) value \"\(text)\". Valid values are \(valid)")
  }

  /// An instant in ISO 8601, UTC if it names no zone.
  func time() throws(HTTPError) -> Timestamp {
    // A plus sign that the client did not encode has become a space.
    let mark = text.lastIndex(of: " ")
    if let mark, text.distance(from: text.startIndex, to: mark) > 10 {
      let zoned = text[..<mark] + "+" + text[text.index(after: mark)...]
      if let time = Timestamp(iso8601: String(zoned)) { return time }
    }
    guard let time = Timestamp(iso8601: text) else { throw bad("ISO-8601 timestamps.") }
    return time
  }

  /// A number in decimal digits.
  func double() throws(HTTPError) -> Double {
    let isDecimal = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0)
    }
    guard isDecimal, let number = Double(text), number.isFinite, isInRange(number) else {
      throw bad(parameter.range == nil ? "numeric" : rangeText)
    }
    return number
  }

  /// An integer that is not negative; one that is too large is the largest.
  func integer() throws(HTTPError) -> Int {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw bad(parameter.range == nil ? "integers" : rangeText)
    }
    let number = Int(text) ?? .max
    guard isInRange(Double(number)) else { throw bad(rangeText) }
    return number
  }

  func boolean() throws(HTTPError) -> Bool {
    switch text.lowercased() {
    case "true": return true
    case "false": return false
    default:
      throw HTTPError(
        400,
        "Bad \(name) value \"\(text)\". Valid values are (case insensitive): \"TRUE\", \"FALSE\".")
    }
  }

  /// One of the parameter's choices.
  func choice() throws(HTTPError) -> String {
    guard parameter.choices.contains(text) else {
      throw Self.unknown(name, text, of: parameter.choices)
    }
    return text
  }

  /// The error for a text that is not one of those that are known.
  static func unknown(_ name: String, _ text: String, of choices: [String]) -> HTTPError {
    let list = choices.map { "\"\($0)\"" }.joined(separator: ", ")
    return HTTPError(400, "Bad \(name) value \"\(text)\". Valid values are: \(list).")
  }

  private func isInRange(_ number: Double) -> Bool { parameter.range?.contains(number) ?? true }

  private var rangeText: String {
    guard let range = parameter.range else { return "numeric" }
    func shown(_ number: Double) -> String {
      number == number.rounded() ? "\(Int(number))" : "\(number)"
    }
    let most = range.upperBound < 1e9 ? " <= \(shown(range.upperBound))" : ""
    return "\(shown(range.lowerBound)) <= \(name)\(most)"
  }
}
