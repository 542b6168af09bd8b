/// A request, as the services see it.
struct Request: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
    case other = ""

    init(_ name: String) {
      self = Method(rawValue: name) ?? .other
    }
  }

  var method: Method
  /// The path and the query as the client sent them, encoded.
  var target: String
  /// The path, decoded.
  var path: String
  /// The parts of the path between its slashes, decoded.
  var segments: [String] = []
  /// The parameters of the query, decoded, in their order.
  var query: [QueryItem] = []
  var headers = HeaderFields()
  var body: [UInt8] = []
  /// The values of the placeholders of the route's path: `["id": "us7000abcd"]` for `/v1/quakes/{id}`.
  var parameters: [String: String] = [:]
  /// The client's address; behind a trusted proxy, the one that the proxy names.
  var client: String
  /// The address of the server as the client sees it, without a slash at its end: `http://host:port`.
  var baseURL: String
  /// The path as the client sent it, encoded.
  var encodedPath: Substring { target.prefix { $0 != "?" } }
  /// The name of the valid bearer token that the request has; nil on routes that need none.
  var author: String?
}
