import QuakeModel

extension Operation.Parameter {
  /// Writes the parameter as an object of OpenAPI.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member("in", place.rawValue)
      if isRequired {
        json.member("required", true)
      }
      if mayBeEmpty {
        json.member("allowEmptyValue", true)
      }
      json.member("description", summary)
      json.key("schema")
      plainSchema.write(to: &json)
      if let explodes = schema.explodes {
        json.member("style", "form")
        json.member("explode", explodes)
      }
      if let example {
        json.key("example")
        schema.write(example: example, to: &json)
      }
    }
  }
}

extension Operation.Parameter {
  /// The schema; the server accepts no control character in a text, and a path no further slash.
  private var plainSchema: Operation.Schema {
    guard case .string(nil, nil) = schema else { return schema }
    let isInPath = place == .path
    return .string(
      pattern: "^[^\(APIParameters.control)\(isInPath ? "/" : "")]\(isInPath ? "+" : "*")$")
  }
}

extension Operation.Schema {
  /// Whether a list is sent as several parameters of the name; nil: it is no list.
  fileprivate var explodes: Bool? {
    switch self {
    case .list, .words, .texts, .numbers: false
    case .repeated: true
    default: nil
    }
  }

  /// Writes the schema in the form of JSON Schema.
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      switch self {
      case .string(let format, let pattern):
        json.type("string")
        if let format {
          json.member("format", format)
        }
        if let pattern { json.pattern(pattern) }
      case .choice(let words):
        json.type("string")
        json.words(words)
      case .integer(let range):
        json.type("integer")
        if let range {
          json.member("minimum", range.lowerBound)
          if range.upperBound < .max {
            json.member("maximum", range.upperBound)
          }
        }
      case .number(let range):
        json.type("number")
        if let range { json.bounds(range) }
      case .boolean: json.type("boolean")
      case .list: json.items { $0.type("string") }
      case .words(let words):
        json.items { json in
          json.type("string")
          json.words(words)
        }
      case .texts(let pattern), .repeated(let pattern):
        json.items { json in
          json.type("string")
          json.pattern(pattern)
        }
      case .numbers(let ranges): json.numbers(ranges)
      }
    }
  }

  /// Writes a valid value, given as it stands in a URL.
  fileprivate func write(example: String, to json: inout JSONWriter) {
    switch self {
    case .integer: json.integer(Int(example) ?? 0)
    case .number: json.double(Double(example))
    case .boolean: json.bool(example == "true")
    case .list, .words, .texts:
      json.array { json in for word in example.split(separator: ",") { json.string(String(word)) } }
    case .repeated: json.array { $0.string(example) }
    case .numbers:
      json.array { json in
        for number in example.split(separator: ",") { json.double(Double(number)) }
      }
    case .string, .choice: json.string(example)
    }
  }
}

extension JSONWriter {
  fileprivate mutating func type(_ name: String) {
    member("type", name)
  }

  fileprivate mutating func pattern(_ pattern: String) {
    member("pattern", pattern)
  }

  fileprivate mutating func words(_ words: [String]) {
    member("enum", words)
  }

  fileprivate mutating func bounds(_ range: ClosedRange<Double>) {
    member("minimum", range.lowerBound)
    member("maximum", range.upperBound)
  }

  /// An array of one element or more.
  fileprivate mutating func items(_ body: (inout JSONWriter) -> Void) {
    type("array")
    member("minItems", 1)
    object("items") { body(&$0) }
  }

  fileprivate mutating func numbers(_ ranges: [ClosedRange<Double>]) {
    type("array")
    for name in ["minItems", "maxItems"] as [StaticString] {
      member(name, ranges.count)
    }
    array("prefixItems") { json in
      for range in ranges {
        json.object { json in
          json.type("number")
          json.bounds(range)
        }
      }
    }
    member("items", false)
  }
}
