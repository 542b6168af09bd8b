import Synchronization

/// The routes of the server.
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
