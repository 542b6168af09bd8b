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
