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
