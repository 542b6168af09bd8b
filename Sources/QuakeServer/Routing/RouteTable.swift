import Synchronization

final class RouteTable: Sendable {
  /// A route and the values of its placeholders. It is a class, because a request passes it on many times.
  final class Match: Sendable {
    let route: Route
    let parameters: [String: String]

    init(_ route: Route, _ parameters: [String: String] = [:]) {
      self.route = route
      self.parameters = parameters
    }
  }

  let routes: [Route]
  private let patterns: [PathPattern]
  /// The routes without placeholders by the segments of their paths.
  private let exact: [[String]: [Match]]

  /// The matches of paths that were looked up lately: feeds are polled again and again.
  private let recent = Mutex<[[String]: [Match]]>([:])
  private static let mostRecent = 256

  init(_ routes: [Route]) {
    self.routes = routes
    patterns = routes.map { PathPattern($0.path) }
    exact = Dictionary(
      grouping: routes.filter { !$0.path.contains("{") }.map { Match($0) }
    ) { PathPattern.segments(of: $0.route.path) }
  }

  /// The route of a request to a path, by its segments.
  ///
  /// - Throws: `HTTPError` 404 if there is no such path, 405 with `Allow` if it has no such method.
  func match(_ method: Request.Method, _ path: [String]) throws(HTTPError) -> Match {
    let wanted = method == .head ? .get : method
    let found = matches(path)
    guard !found.isEmpty else {
      throw HTTPError(404, "There is nothing at this address. /openapi.json lists the addresses.")
    }
    if let match = found.first(where: { $0.route.method == wanted }) { return match }
    throw HTTPError(
      405, "The method is not one of those that this address takes.",
      ["Allow": Self.methods(found)])
  }

  /// The value of `Allow` for a path; nil if there is no such path.
  func allowed(_ path: [String]) -> String? {
    let found = matches(path)
    return found.isEmpty ? nil : Self.methods(found)
  }

  /// The form of errors for a path: that of its routes, or of the routes beside it.
  func errorForm(_ path: [String]) -> ErrorForm {
    if let route = matches(path).first?.route { return route.errors }
    return path.count > 2 && path[1] == "fdsnws"
      ? routes.first { $0.path.hasPrefix("/fdsnws/") }?.errors ?? .problem
      : .problem
  }

  private func matches(_ path: [String]) -> [Match] {
    if let known = exact[path] ?? recent.withLock({ $0[path] }) { return known }
    let found = search(path)
    if !found.isEmpty {
      recent.withLock { recent in
        if recent.count >= Self.mostRecent { recent.removeAll(keepingCapacity: true) }
        recent[path] = found
      }
    }
    return found
  }

  private func search(_ path: [String]) -> [Match] {
    var found: [(literals: Int, match: Match)] = []
    for (route, pattern) in zip(routes, patterns) {
      if let parameters = pattern.match(path) {
        found.append((pattern.literals, Match(route, parameters)))
      }
    }
    let most = found.map(\.literals).max()
    return found.filter { $0.literals == most }.map(\.match)
  }

  private static func methods(_ found: [Match]) -> String {
    var names: [String] = []
    for match in found {
      names.append(match.route.method.rawValue)
      if match.route.method == .get { names.append(Request.Method.head.rawValue) }
    }
    return (names + [Request.Method.options.rawValue]).joined(separator: ", ")
  }
}

/// A path that the server answers, how, and its description for people and for OpenAPI.
struct Route: Sendable {
  /// The clients that may send the request.
  enum Access: Sendable {
    case open
    /// Only with a valid bearer token, which `Request.author` names.
    case token
    /// Only with a valid bearer token for consumers, which `Request.author` names.
    case consumer
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
  /// Whether its queries take long, so that they must leave connections to others.
  var isExpensive = false
  var handler: Handler
}

enum Handler: Sendable {
  /// On the thread of the HTTP library: without a wait of any kind.
  case immediate(@Sendable (Request) throws -> Response)
  /// On a thread with a connection to the database.
  case query(@Sendable (Request, QueryContext) throws -> Response)
  /// On a thread that calls back, in a time that does not depend on other requests.
  case later(@Sendable (Request, @escaping Answering) throws -> Void)

  /// Takes the answer to a request.
  typealias Answering = @Sendable (Result<Response, any Error>) -> Void
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

/// The path of a route, divided into its segments.
struct PathPattern: Sendable {
  private enum Segment: Sendable {
    case literal(String)
    case placeholder(name: String, prefix: String, suffix: String)
  }

  private let segments: [Segment]
  /// How many segments are literals: of two matching routes, the one with more literals is chosen.
  let literals: Int

  init(_ path: String) {
    segments = Self.segments(of: path).map { text in
      guard let start = text.firstIndex(of: "{"), let end = text.firstIndex(of: "}") else {
        return .literal(text)
      }
      return .placeholder(
        name: String(text[text.index(after: start)..<end]), prefix: String(text[..<start]),
        suffix: String(text[text.index(after: end)...]))
    }
    literals = segments.count { if case .literal = $0 { true } else { false } }
  }

  /// The parts of a route's path between its slashes.
  static func segments(of path: String) -> [String] {
    path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
  }

  /// The values of the placeholders in the segments of a path; nil if the path does not match.
  func match(_ parts: [String]) -> [String: String]? {
    guard parts.count == segments.count else { return nil }
    var values: [String: String] = [:]
    for (segment, part) in zip(segments, parts) {
      switch segment {
      case .literal(let text):
        guard part == text else { return nil }
      case .placeholder(let name, let prefix, let suffix):
        let bytes = part.utf8
        guard bytes.count > prefix.utf8.count + suffix.utf8.count,
          bytes.starts(with: prefix.utf8),
          bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        else { return nil }
        values[name] = String(
          Substring(bytes.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)))
      }
    }
    return values
  }
}
