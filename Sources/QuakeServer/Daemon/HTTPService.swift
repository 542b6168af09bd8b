import Basics
import Postgres
import QuakeModel
import Synchronization

/// Answers requests: finds the route, checks what all routes have in common, and runs the handler.
///
/// It knows nothing of the library that reads and writes the connections.
final class HTTPService: Sendable {
  struct Settings: Sendable {
    /// The most bytes of a request's body.
    var mostBody = 64 << 10
    /// Whether pages of other sites may read the open routes.
    var allowsOrigins = true
    /// The proxies whose `X-Forwarded-*` fields are believed.
    var trustedProxies: [String] = []
    /// The address that clients use, if it is not the one that they send as `Host`.
    var publicURL: String?
    /// The names that requests may call the server by; nil: any.
    var hosts: HostNames?
    /// Whether every client may see the sessions that made the changes.
    var showsSessions = false
  }

  let table: RouteTable
  let settings: Settings
  let limits: AddressLimits
  let pool: QueryPool
  let tokens: AccessTokens
  /// Those with which a client may have consumers.
  let consumerTokens: AccessTokens
  /// Those with which a client may see the sessions that made the changes.
  let auditTokens: AccessTokens
  let observer: RequestObserver
  private let newestToken: NewestToken
  private let isDraining: Flag
  private let cache = AnswerCache()
  /// The requests that wait for an answer in progress, by the key of the answer.
  private let waiting = Mutex<[String: [Waiting]]>([:])

  /// A request that waits for an answer of the pool.
  private struct Waiting: Sendable {
    let request: Request
    let match: RouteTable.Match
    let arrived: Timestamp
    let began = MonotonicClock.now()
    /// The owner of its job in the queue: see `AddressLimits.owner`.
    let owner: String
    let later: @Sendable (Response) -> Void
  }

  init(
    table: RouteTable, settings: Settings, limits: AddressLimits, pool: QueryPool,
    tokens: AccessTokens = AccessTokens(), auditTokens: AccessTokens = AccessTokens(),
    consumerTokens: AccessTokens = AccessTokens(), observer: RequestObserver,
    newestToken: NewestToken, isDraining: Flag = Flag()
  ) {
    self.table = table
    self.settings = settings
    self.limits = limits
    self.pool = pool
    self.tokens = tokens
    self.auditTokens = auditTokens
    self.consumerTokens = consumerTokens
    self.observer = observer
    self.newestToken = newestToken
    self.isDraining = isDraining
  }

  // MARK: - Before the body

  /// The request of a header, and what is wrong with it.
  func read(
    method: String, target: String, headers: HeaderFields, address: String
  ) -> (Request, RouteTable.Match?, HTTPError?) {
    let isTrusted = settings.trustedProxies.contains(address)
    var request = Request(
      method: Request.Method(method), target: target, path: target,
      client: isTrusted ? Self.forwardedClient(headers) ?? address : address,
      baseURL: baseURL(headers, isTrusted: isTrusted))
    request.headers = headers
    request.seesSessions = settings.showsSessions || auditTokens.allow(headers["authorization"])
    do throws(HTTPError) {
      let decoded = try RequestTarget(target)
      request.path = decoded.path
      request.segments = decoded.segments
      request.query = decoded.query
      try limits.request(request.client)
      try checkHost(request, decoded.authority)
      // libmicrohttpd has refused what is no number.
      if let length = headers["content-length"] { try checkBody(Int(length) ?? .max) }
      if request.method == .options, request.path == "*" || table.allowed(request.segments) != nil {
        return (request, nil, nil)
      }
      let match = try table.match(request.method, request.segments)
      request.parameters = match.parameters
      if ![.get, .head].contains(request.method), headers["if-match"] ?? "*" != "*" {
        throw HTTPError(412, "No change of this server depends on an ETag: leave If-Match out.")
      }
      switch match.route.access {
      case .open: break
      case .token:
        request.author = try tokens.author(
          of: headers["authorization"],
          otherwise: "This server takes no edits. Its operator can allow them with --edit-token.")
      case .consumer:
        let authorization = headers["authorization"]
        if tokens.allow(authorization) || auditTokens.allow(authorization),
          !consumerTokens.allow(authorization)
        {
          throw HTTPError(403, "The bearer token is not one for consumers.")
        }
        request.author = try consumerTokens.author(
          of: authorization,
          otherwise:
            "This server keeps no consumers. Its operator can allow them with --consumer-token.")
      }
      return (request, match, nil)
    } catch {
      // The address could not be decoded. Its segments decide the form of the error.
      if request.segments.isEmpty {
        request.segments = PathPattern.segments(of: String(request.encodedPath))
      }
      return (request, nil, error)
    }
  }

  /// Refuses a name that is not one of the server.
  ///
  /// - Parameter authority: The name in the target, if the client sent a whole address.
  private func checkHost(_ request: Request, _ authority: String?) throws(HTTPError) {
    // A request of HTTP/1.0 may name none; no browser sends it.
    guard let text = request.headers["host"] ?? authority else { return }
    let host = HostAddress(text)
    guard host != nil || text.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else {
      throw HTTPError(
        400, "The header Host is not the name or the address of a server.",
        ["Connection": "close"])
    }
    if let authority, host == nil || HostAddress(authority) != host {
      throw HTTPError(
        400, "The address of the request and the header Host do not name the same server.",
        ["Connection": "close"])
    }
    let isHealth = request.path == "/healthz" || request.path == "/readyz"
    guard settings.hosts?.accept(host, isHealth: isHealth) ?? true else {
      throw HTTPError(
        421,
        "The name in the header Host is not one of this server. Its operator can set it with --public-url."
      )
    }
  }

  /// Refuses a body that is too long.
  func checkBody(_ size: Int) throws(HTTPError) {
    guard size <= settings.mostBody else {
      throw HTTPError(
        413, "The body of the request has more than \(settings.mostBody) bytes.",
        ["Connection": "close"])
    }
  }

  private static func forwardedClient(_ headers: HeaderFields) -> String? {
    // A client may send the field itself: the proxy adds the address that it sees at the end.
    guard let last = headers.list("x-forwarded-for")?.split(separator: ",").last else { return nil }
    let address = String(last.filter { $0 != " " })
    return address.isEmpty || address.utf8.count > 64 ? nil : AddressGroup.plain(address)
  }

  private func baseURL(_ headers: HeaderFields, isTrusted: Bool) -> String {
    if let publicURL = settings.publicURL { return publicURL }
    var scheme = "http"
    var host = headers["host"] ?? ""
    if isTrusted {
      if headers["x-forwarded-proto"]?.lowercased() == "https" { scheme = "https" }
      host = headers["x-forwarded-host"] ?? host
    }
    let isPlain = host.utf8.allSatisfy {
      ($0 >= 0x30 && $0 <= 0x39) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || $0 == 0x2D
        || $0 == 0x2E || $0 == 0x3A || $0 == 0x5B || $0 == 0x5D
    }
    return isPlain && !host.isEmpty && host.utf8.count <= 255 ? "\(scheme)://\(host)" : ""
  }

  // MARK: - Answering

  /// Answers a request, at once or later.
  ///
  /// - Parameters:
  ///   - arrived: When its first line was read.
  ///   - wait: Called if the answer comes later, before anything can answer; false: the server stops.
  ///   - later: Gets the answer on another thread, if it takes a query.
  /// - Returns: The answer; nil: it comes later.
  func answer(
    _ request: Request, _ match: RouteTable.Match?, _ failure: HTTPError?, arrived: Timestamp,
    wait: () -> Bool, later: @escaping @Sendable (Response) -> Void
  ) -> Response? {
    if let failure { return refuse(failure, request, match, arrived) }
    guard let match else { return preflight(request) }
    switch match.route.handler {
    case .immediate(let handler):
      do {
        return complete(try handler(request), request, match.route)
      } catch {
        return refuse(error, request, match, arrived)
      }
    case .query(let handler):
      if let kept = keptAnswer(request, match.route) { return kept }
      guard wait() else { return nil }
      query(
        Waiting(
          request: request, match: match, arrived: arrived, owner: limits.owner(request.client),
          later: later), handler)
      return nil
    case .later(let handler):
      guard wait() else { return nil }
      let answer: Handler.Answering = { [self] result in
        switch result {
        case .success(let response): later(complete(response, request, match.route))
        case .failure(let error): later(refuse(error, request, match, arrived))
        }
      }
      do {
        try handler(request, answer)
      } catch {
        answer(.failure(error))
      }
      return nil
    }
  }

  /// The cached answer of a route whose answers may be sent without asking the database.
  private func keptAnswer(_ request: Request, _ route: Route) -> Response? {
    guard case .forAtMost(let age) = route.caching, let key = Self.cacheKey(request, route),
      let token = newestToken.value,
      let kept = cache.answer(key, token: token, notOlderThan: age)
    else { return nil }
    return complete(kept, request, route)
  }

  private func query(
    _ own: Waiting, _ handler: @escaping @Sendable (Request, QueryContext) throws -> Response
  ) {
    let (request, route) = (own.request, own.match.route)
    let key = Self.cacheKey(request, route)
    var isFirst = true
    if let key {
      // Equal requests that arrive meanwhile get the same answer, when it is the first turn of one of them.
      let isNew = waiting.withLock { waiting in
        defer { waiting[key, default: []].append(own) }
        isFirst = waiting[key] == nil
        return !(waiting[key]?.contains { $0.owner == own.owner } ?? false)
      }
      guard isNew else { return }
    }
    let deliver: @Sendable (Result<Response, any Error>, Duration?) -> Void = {
      [self] result, begun in
      guard let key else { return finish(own, result) }
      let all = waiting.withLock { $0.removeValue(forKey: key) } ?? []
      for each in all {
        // A client that asked after the token was read may know of a later change: it must not get an
        // older state.
        if let begun, each.began > begun, case .untilChange = route.caching {
          query(each, handler)
        } else {
          finish(each, result)
        }
      }
    }
    let isAccepted = pool.add(
      QueryPool.Job(
        isRepeatable: route.method == .get, isExpensive: route.isExpensive, begun: own.began,
        isNeeded: { [self] in
          key.map { key in waiting.withLock { $0[key] != nil } } ?? true
        }
      ) { [self] context in
        do {
          let context = try context.get()
          deliver(.success(try response(request, route, key, handler, context)), context.begun)
        } catch let error as PostgresError
          where error.isConnectionLoss && (try? context.get()) != nil
        {
          throw error
        } catch {
          // Mistakes of the client are not logged: the answer explains them.
          if !(error is HTTPError), HTTPError(error).status >= 500 {
            observer.failed(request, error)
          }
          deliver(.failure(error), try? context.get().begun)
        }
      }, of: own.owner)
    if !isAccepted, isFirst {
      let busy = HTTPError(
        503, "The server has too many requests to answer. Try again later.", ["Retry-After": "5"])
      deliver(.failure(busy), nil)
    }
  }

  /// Answers a request that waits. An error answer is made per request, because it may describe the request.
  private func finish(_ each: Waiting, _ result: Result<Response, any Error>) {
    switch result {
    case .success(let response): each.later(response)
    case .failure(let error): each.later(refuse(error, each.request, each.match, each.arrived))
    }
  }

  private func response(
    _ request: Request, _ route: Route, _ key: String?,
    _ handler: @Sendable (Request, QueryContext) throws -> Response, _ context: QueryContext
  ) throws -> Response {
    let age: Duration = if case .forAtMost(let age) = route.caching { age } else { .seconds(60) }
    if let key, let kept = cache.answer(key, token: context.token, notOlderThan: age) {
      // It may have been made for a client that does not accept gzip.
      try compress(kept, request, route)
      return complete(kept, request, route)
    }
    let made = try handler(request, context)
    try compress(made, request, route)
    if let key, made.status == 200, made.mayBeKept { cache.keep(made, key, token: context.token) }
    return complete(made, request, route)
  }

  /// Makes the compressed form of a document for those who accept it.
  private func compress(_ response: Response, _ request: Request, _ route: Route) throws {
    guard case .document(let document) = response.body else { return }
    let isForAll = if case .forAtMost = route.caching { true } else { false }
    if isForAll || AcceptEncoding.acceptsGzip(request.headers.list("accept-encoding")) {
      try document.compress()
    }
  }

  /// The key under which an answer is cached; nil: it is not cached.
  private static func cacheKey(_ request: Request, _ route: Route) -> String? {
    guard request.method == .get || request.method == .head else { return nil }
    switch route.caching {
    case .none: return nil
    case .forAtMost: return "\(request.baseURL) \(request.path)"
    case .untilChange:
      let audience = request.seesSessions ? "sessions " : ""
      return audience
        + "\(request.baseURL) \(request.target) \(request.headers["accept"] ?? "")"
    }
  }

  /// The answer for an error.
  func refuse(
    _ error: any Error, _ request: Request, _ match: RouteTable.Match?, _ arrived: Timestamp
  ) -> Response {
    let form = match?.route.errors ?? table.errorForm(request.segments)
    var response = form.response(HTTPError(error), request, arrived)
    for field in HTTPError(error).headers.fields {
      response.headers.appendIfAbsent(field.name, field.value)
    }
    endConnectionIfDraining(&response)
    addOrigin(
      to: &response, isOpen: (match?.route.access ?? .open) == .open && !request.seesSessions)
    return response
  }

  private func complete(_ response: Response, _ request: Request, _ route: Route) -> Response {
    var response = response
    let isOpen = route.access == .open && !request.seesSessions
    response.headers.appendIfAbsent("Cache-Control", isOpen ? "no-cache" : "no-store")
    endConnectionIfDraining(&response)
    addOrigin(to: &response, isOpen: isOpen)
    return response
  }

  /// A proxy keeps connections open, and would send this server further requests over them.
  private func endConnectionIfDraining(_ response: inout Response) {
    if isDraining.isSet { response.headers.appendIfAbsent("Connection", "close") }
  }

  private func addOrigin(to response: inout Response, isOpen: Bool) {
    guard settings.allowsOrigins, isOpen else { return }
    response.headers.appendIfAbsent("Access-Control-Allow-Origin", "*")
    response.headers.appendIfAbsent("Access-Control-Expose-Headers", "ETag, Link, Retry-After")
  }

  /// The answer to OPTIONS, by which a browser asks whether a page of another site may send a request.
  private func preflight(_ request: Request) -> Response {
    var response = Response(204, ["Allow": table.allowed(request.segments) ?? "GET, HEAD, OPTIONS"])
    guard settings.allowsOrigins else { return response }
    response.headers.append("Access-Control-Allow-Origin", "*")
    response.headers.append("Access-Control-Allow-Methods", "GET, HEAD")
    response.headers.append(
      "Access-Control-Allow-Headers", "Accept, If-None-Match, Last-Event-ID, Range")
    response.headers.append("Access-Control-Max-Age", "86400")
    return response
  }
}

final class OpenConnections: Sendable {
  private let records = Mutex<[ObjectIdentifier: ConnectionRecord]>([:])

  var count: Int { records.withLock { $0.count } }

  /// How many of them have a request that is being answered.
  var busy: Int { records.withLock { $0.values.count { $0.isBusy } } }

  func add(_ record: ConnectionRecord) {
    records.withLock { $0[ObjectIdentifier(record)] = record }
  }

  func remove(_ record: ConnectionRecord) {
    records.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(record)) }
  }

  /// Ends those whose requests are late.
  func endLate() {
    let now = MonotonicClock.now()
    let all = records.withLock { Array($0.values) }
    for record in all { record.endIfLate(at: now) }
  }
}

/// Reports requests to the access log, the log of failures and the metrics.
struct RequestObserver: Sendable {
  let completed: @Sendable (EventServer.AccessRecord) -> Void
  /// A handler has thrown an error whose cause the client's answer leaves out.
  let failed: @Sendable (Request, any Error) -> Void
}
