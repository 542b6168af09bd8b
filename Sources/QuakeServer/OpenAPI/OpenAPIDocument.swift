import CPage
import QuakeModel

/// The description of routes as a document of OpenAPI 3.1.
struct OpenAPIDocument: Sendable {
  private let routes: [Route]
  private let version: String

  init(_ routes: [Route], version: String) {
    self.routes = routes
    self.version = version
  }

  /// The document for a client that reaches the server under this address.
  func bytes(baseURL: String) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("openapi", "3.1.0")
    json.object("info") { json in
      json.member("title", "Quake")
      json.member("version", version)
      json.member("summary", "Earthquakes, their history, and each change as it is committed")
    }
    json.array("servers") { json in
      json.object { json in
        json.member("url", baseURL.isEmpty ? "/" : baseURL)
      }
    }
    json.object("paths") { json in
      for path in paths {
        json.key(dynamic: path)
        json.object { json in
          for route in routes where route.path == path {
            json.key(dynamic: route.method.rawValue.lowercased())
            write(route, to: &json)
          }
        }
      }
    }
    var bytes = json.take()
    bytes += Array(",\"components\":".utf8)
    let components = quake_openapi_components().pointee
    bytes += UnsafeBufferPointer(start: components.bytes, count: components.size)
    bytes += Array("}\n".utf8)
    return bytes
  }

  func response(to request: Request) -> Response {
    let bytes = bytes(baseURL: request.baseURL)
    return Response(body: .document(Document(bytes, contentType: "application/json")))
  }

  /// The paths, each once, in the order of the routes.
  private var paths: [String] {
    var known: Set<String> = []
    return routes.map(\.path).filter { known.insert($0).inserted }
  }

  private func write(_ route: Route, to json: inout JSONWriter) {
    let operation = route.operation
    json.object { json in
      json.member("operationId", operation.id)
      json.member("summary", operation.summary)
      if let description = operation.description {
        json.member("description", description)
      }
      json.array("tags") { $0.string(operation.tag) }
      if !operation.parameters.isEmpty {
        json.array("parameters") { json in
          for parameter in operation.parameters { parameter.write(to: &json) }
        }
      }
      if route.access != .open {
        json.array("security") { json in
          json.object { json in
            json.array("bearer") { _ in }
          }
        }
      }
      json.object("responses") { json in
        for answer in operation.answers { answer.write(to: &json) }
        Self.writeErrors(route, to: &json)
      }
    }
  }

  /// Any route can answer with an error.
  private static func writeErrors(_ route: Route, to json: inout JSONWriter) {
    json.object("default") { json in
      json.member("description", "An error.")
      json.object("content") { json in
        json.key(dynamic: route.errors.mediaType)
        json.object { json in
          guard route.errors.mediaType == APIService.problem else { return }
          json.key("schema")
          json.reference("Problem")
        }
      }
    }
  }
}

extension Operation.Answer {
  fileprivate func write(to json: inout JSONWriter) {
    json.key(dynamic: "\(status)")
    json.object { json in
      json.member("description", summary)
      guard !mediaTypes.isEmpty else { return }
      json.object("content") { json in
        for type in mediaTypes {
          json.key(dynamic: type)
          json.object { json in
            guard let schema else { return }
            json.key("schema")
            json.reference(schema)
          }
        }
      }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func reference(_ schema: String) {
    object { json in
      json.member("$ref", "#/components/schemas/\(schema)")
    }
  }
}

/// `/openapi.json`: the description of all routes, made from their table.
struct OpenAPIService: Sendable {
  private let document: OpenAPIDocument

  /// - Parameter routes: All other routes of the server.
  init(_ routes: [Route], version: String) {
    document = OpenAPIDocument(routes + [Self.route { _ in Response() }], version: version)
  }

  var routes: [Route] {
    [Self.route { [document] in document.response(to: $0) }]
  }

  private static func route(_ handler: @escaping @Sendable (Request) throws -> Response) -> Route {
    Route(
      method: .get, path: "/openapi.json",
      operation: Operation(
        "getDescription", "this description, for programs (OpenAPI 3.1)", tag: "operation",
        answers: [.init(200, "The description.", ["application/json"])]),
      handler: .immediate(handler))
  }
}

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

  /// The schema; the server accepts no control character in a text, and a path no further slash.
  private var plainSchema: Operation.Schema {
    guard case .string(nil) = schema else { return schema }
    let isInPath = place == .path
    return .string(
      pattern: "^[^\(APIParameters.control)\(isInPath ? "/" : "")]\(isInPath ? "+" : "*")$")
  }
}

extension Operation.Schema {
  /// Whether a list is sent as several parameters of the name; nil: it is no list.
  fileprivate var explodes: Bool? {
    switch self {
    case .words, .texts, .numbers: false
    case .repeated: true
    default: nil
    }
  }

  /// Writes the schema in the form of JSON Schema.
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      switch self {
      case .string(let pattern):
        json.type("string")
        if let pattern { json.pattern(pattern) }
      case .choice(let words):
        json.type("string")
        json.words(words)
      case .integer(let least, let most):
        json.type("integer")
        if let least { json.member("minimum", least) }
        if let most { json.member("maximum", most) }
      case .number(let range):
        json.type("number")
        if let range { json.bounds(range) }
      case .boolean: json.type("boolean")
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
    case .words, .texts:
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
