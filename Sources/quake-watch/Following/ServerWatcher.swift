import Basics
import CLinux
import CommandLine
import Postgres
import QuakeClient
import QuakeModel
import QuakeTool

/// Follows the history of a server until the watch is complete: asks again after each lost connection, and
/// reports what happens. `ServerFollower` reads and waits, `Delivery` hands over.
final class ServerWatcher: Watcher {
  private let diagnostics: Diagnostics
  private let follower: ServerFollower
  private let delivery: Delivery
  private let follows: Bool

  private var backoff = Backoff()
  /// When changes could come over this connection first, and after which cursor.
  private var begun: (cursor: HistoryCursor?, at: Duration) = (nil, .zero)
  /// Whether changes came, or could have come, over this connection.
  private var isFollowing = false
  /// Whether a connection was lost, and the next one has not been reported yet.
  private var isReconnecting = false
  private var announcement = WatchAnnouncement()

  /// - Parameter follows: Whether to continue at the end of the history.
  init(diagnostics: Diagnostics, follower: ServerFollower, delivery: Delivery, follows: Bool) {
    self.diagnostics = diagnostics
    self.follower = follower
    self.delivery = delivery
    self.follows = follows
  }

  // MARK: - Connections

  func run() throws {
    while true {
      do {
        return try watch()
      } catch let error as ServerError where error.kind == .interrupted {
        Signals.drainWake()
        if Signals.stopRequested { return }
      } catch let error as ServerError where error.isTransient || error.kind == .wrongAddress {
        // Fail at once on a wrong address. A server that was there once, or that says when to come again, as for a
        // paused consumer, is worth waiting for, and in the meantime a proxy may say that there is nothing.
        guard delivery.hasBegun || follows && error.retryAfter != nil else { throw error }
        report(error)
        // Not for a connection that brought nothing: a server may accept one and end it at once.
        let isUseful =
          follower.cursor != begun.cursor || MonotonicClock.now() - begun.at > .seconds(5)
        if isFollowing, isUseful { backoff.reset() }
        (isFollowing, isReconnecting) = (false, true)
        follower.disconnect()
        _ = Signals.wait(timeout: max(backoff.next(), error.retryAfter ?? .zero))
        if Signals.stopRequested { return }
      }
    }
  }

  private func report(_ error: ServerError) {
    let problem = [error.message, error.detail].compactMap { $0 }.joined(separator: ": ")
    if isFollowing || !isReconnecting {
      diagnostics.warning(problem, hint: "Trying again until the connection is restored.")
    } else {
      diagnostics.verbose("still no connection: \(problem)")
    }
  }

  // MARK: - Watching

  /// Watches over one connection until the watch is complete.
  private func watch() throws {
    while true {
      do {
        try delivery.begin()
        return try follow()
      } catch let error as StoreError {
        let error = try delivery.explained(error)
        guard delivery.canReset(after: error) else { throw error }
        diagnostics.warning(
          error.message, detail: error.detail, hint: "Beginning again with a snapshot.")
        try delivery.reset(after: error)
      }
    }
  }

  /// Hands over the history to its end, and then each new change, until the watch is complete.
  private func follow() throws {
    isFollowing = true
    begun = (follower.cursor, MonotonicClock.now())
    if isReconnecting, follows {
      diagnostics.warning(
        "connected again; continuing after token \(follower.cursor?.description ?? "0")")
    }
    isReconnecting = false
    // As when following a database, an idle watch releases the memory that reading took.
    var isIdle = false
    while try delivery.readToEnd(shouldStop: { Signals.stopRequested }) {
      if !follows, follower.hasReachedEnd { return }
      if follower.hasReachedEnd { announcement.tell(follower.cursor, diagnostics) }
      try delivery.showLife()
      if isIdle { quake_release_idle_memory() }
      let pause = min(delivery.timeToSignOfLife, isIdle ? .seconds(60) : .seconds(1))
      switch try follower.wait(until: Deadline(after: pause)) {
      case .ready: isIdle = false
      case .timedOut: isIdle = true
      case .woken:
        Signals.drainWake()
        if Signals.stopRequested { return }
      }
    }
  }

  // MARK: - Slow consumers

  func pauseWhileOutputStalls() { follower.pause() }
}

/// The options for following a server instead of a database.
enum ServerOptions {
  static let table: [Option] = [
    .value(
      "url", "URL",
      help: "follow the quake-serve at this address, such as http://127.0.0.1:8080, not a database"),
    .value(
      "header-file", "FILE", completion: .files,
      help: """
        with --url: send the header fields in FILE with each request, one on a line, such as \
        Authorization: Bearer ...
        """),
  ]

  /// A server gets filters in the address of a request, which proxies limit to about twice this size.
  private static let longestFilter = 4000

  /// The follower of the server that the arguments name; nil if they name none.
  static func follower(
    _ arguments: ParsedArguments, _ filter: EventFilter
  ) throws -> ServerFollower? {
    guard let url = arguments.string("url") else {
      if arguments.isGiven("header-file") {
        throw arguments.usageError("option --header-file is for --url")
      }
      return nil
    }
    if url.contains("@") { ProcessArguments.hide(url) }
    try arguments.requireAtMostOne(of: "url", "database")
    try refuseWhatNeedsADatabase(arguments)
    var address: ServerAddress
    do throws(ServerAddress.Invalid) {
      address = try ServerAddress(url)
    } catch {
      // Not with the value, which may have a password.
      throw arguments.usageError("invalid value for option --url: expected \(error.expected)")
    }
    if let path = arguments.string("header-file") { address.headers = try headers(in: path) }
    return ServerFollower(address, filter: parameters(arguments, filter)) {
      Signals.wakeDescriptor
    }
  }

  private static func refuseWhatNeedsADatabase(_ arguments: ParsedArguments) throws(UsageError) {
    if !arguments.flag("witness") {
      throw arguments.contradiction(
        "with --url, the witness is the only place for the cursor: leave out --no-witness or --name"
      )
    }
    if arguments.flag("refresh") {
      throw arguments.contradiction(
        """
        option --refresh asks workers through a database, which --url does not reach: use \
        quake-admin refresh, or POST /v1/refresh with a token
        """)
    }
  }

  private static func headers(in path: String) throws -> [String] {
    let bytes: [UInt8]?
    do throws(AtomicFile.SystemError) {
      bytes = try AtomicFile(path).read(atMost: HeaderFile.longest)
    } catch {
      throw FileError("could not read header file \"\(path)\": \(error)")
    }
    guard let bytes else {
      throw FileError("could not read header file \"\(path)\": there is none")
    }
    do throws(HeaderFile.Invalid) {
      return try HeaderFile.read(bytes)
    } catch {
      throw FileError("header file \"\(path)\", line \(error.line): expected \(error.expected)")
    }
  }

  /// The filters as parameters of the stream, so that the server sends only changes that pass.
  private static func parameters(
    _ arguments: ParsedArguments, _ filter: EventFilter
  ) -> [ServerFollower.Parameter] {
    // A batch ends with its transaction. Only a client that receives every change can detect that end.
    if arguments.isGiven("exec-batch") { return [] }
    var parameters: [ServerFollower.Parameter] = []
    for option in FilterOptions.events + FilterOptions.changes where arguments.isGiven(option.name)
    {
      if option.name == "last" || option.name == "from" {
        // A relative time counts from the start of this program, not from the next request.
        if let time = filter.earliestTime { parameters.append(("from", "\(time)")) }
      } else if option.name == "to" {
        if let time = filter.endTime { parameters.append(("to", "\(time)")) }
      } else if option.placeholder == nil {
        parameters.append((option.name, "true"))
      } else {
        let values = arguments.strings(option.name)
        parameters += (option.isRepeatable ? values : values.suffix(1)).map { (option.name, $0) }
      }
    }
    // A server refuses control characters in an address.
    let isPlain = parameters.allSatisfy { $0.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    guard isPlain else { return [] }
    let size = parameters.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count * 3 + 2 }
    return size > longestFilter ? [] : parameters
  }
}
