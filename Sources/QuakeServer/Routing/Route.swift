/// A path that the server answers, how, and its description for people and for OpenAPI.
struct Route: Sendable {
  /// The clients that may send the request.
  enum Access: Sendable {
    case open
    /// Only with a valid bearer token, which `Request.author` names.
    case token
  }

  /// `.get` answers HEAD as well.
  var method: Request.Method
  /// The path, such as `/v1/quakes/{id}`. A segment is a literal, a placeholder, or a literal with one
  /// placeholder in it, such as `{feed}.geojson`. A placeholder matches at least one character.
  var path: String
  var operation: Operation
  var access = Access.open
  var errors = ErrorForm.problem
  var caching = Caching.none
  var handler: Handler
}

/// How a request is answered.
enum Handler: Sendable {
  /// On the thread of the HTTP library: without a wait of any kind.
  case immediate(@Sendable (Request) throws -> Response)
  /// On a thread with a connection to the database.
  case query(@Sendable (Request, QueryContext) throws -> Response)
}

/// Whether answers of a route are kept.
enum Caching: Sendable {
  /// Each request is answered anew.
  case none
  /// The answer to a target is kept until the store changes. The handler must return the same for the same
  /// target, address of the server and store.
  case untilChange
  /// The answer to a target is kept until the store changes, at most this long. Requests are answered from
  /// memory, without the database.
  case forAtMost(Duration)
}
