import Basics
import CMicrohttpd
import CPage
import Glibc
import Synchronization

/// The HTTP server: libmicrohttpd reads and writes the connections on threads of its own, and calls
/// `HTTPService` for the answers.
///
/// It runs from `init` until `stop`. Safe to use from any thread.
final class MicrohttpdServer: Sendable {
  struct Settings: Sendable {
    var mostConnections = 20_000
    /// How long a client may take to send a request, and to read a part of an answer.
    var requestTimeout = Duration.seconds(60)
    /// Memory for the header of a request and of its answer, per connection. Idle streams cost little more than this.
    var connectionMemory = 4096
    /// Threads that read and write connections.
    var threads = max(1, min(4, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }

  private let context: MicrohttpdContext
  /// The address of the `MHD_Daemon`; nil once it has stopped.
  private let daemon: Mutex<UInt?>

  /// Begins to accept connections on a listening socket, which it closes in the end.
  init(
    _ settings: Settings, listening: Int32, service: HTTPService, connections: OpenConnections
  ) throws(HTTPServerError) {
    context = MicrohttpdContext(service, connections, settings)
    var options = quake_mhd_options()
    options.flags =
      MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
      | MHD_ALLOW_UPGRADE.rawValue | MHD_USE_ITC.rawValue
    options.listening = listening
    options.context = Unmanaged.passUnretained(context).toOpaque()
    options.accept = { acceptConnection($0, $1, $2) }
    options.handler = { handleRequest($0, $1, $2, $3, $4, $5, $6, $7) }
    options.target = { beginRequest($0, $1, $2) }
    options.completed = { completeRequest($0, $1, $2, $3) }
    options.connection = { connectionChanged($0, $1, $2, $3) }
    options.connection_limit = UInt32(settings.mostConnections)
    // libmicrohttpd closes an idle connection without an answer. Its limit is longer, so that it applies only to
    // clients that do not read: `OpenConnections` ends late requests before, with status 408.
    options.idle_seconds = UInt32(settings.requestTimeout.inSeconds) + 30
    options.threads = settings.threads > 1 ? UInt32(settings.threads) : 0
    options.connection_memory = settings.connectionMemory
    // Version 0.9 would close some connections without an answer.
    options.strict = HeaderLayout.isNeeded ? 0 : 1
    quake_mhd_set_refusal { refuseUnreadable($0, $1) }
    let started = withUnsafePointer(to: &options) { quake_mhd_start($0) }
    daemon = Mutex(started.map { UInt(bitPattern: $0) })
    guard started != nil else {
      throw HTTPServerError(
        message: "could not start the HTTP server", detail: "libmicrohttpd gave no reason.",
        hint: "The limits on threads or open files may be too low.")
    }
  }

  deinit {
    stop()
  }

  /// Refuses new connections, so that those that are open can end by themselves.
  func stopListening() {
    daemon.withLock { daemon in
      guard let daemon, let pointer = OpaquePointer(bitPattern: daemon) else { return }
      let socket = MHD_quiesce_daemon(pointer)
      if socket >= 0 { close(socket) }
    }
  }

  /// Closes all connections and ends the threads; does nothing the second time. Streams must have ended, and no
  /// job may be under way.
  func stop() {
    let running = daemon.withLock { daemon -> UInt? in
      defer { daemon = nil }
      return daemon
    }
    guard let running, let running = OpaquePointer(bitPattern: running) else { return }
    context.suspended.resumeAll()
    MHD_stop_daemon(running)
  }
}

struct HTTPServerError: ExplainedError {
  let message: String
  let detail: String?
  let hint: String?
  var category: ErrorCategory { .failed }
}

/// The objects that the callbacks of libmicrohttpd need; the server keeps them until the daemon has stopped.
final class MicrohttpdContext: Sendable {
  let service: HTTPService
  let requestTimeout: Duration
  let connectionMemory: Int
  let connections: OpenConnections
  let suspended = SuspendedConnections()

  init(
    _ service: HTTPService, _ connections: OpenConnections, _ settings: MicrohttpdServer.Settings
  ) {
    self.service = service
    self.connections = connections
    requestTimeout = settings.requestTimeout
    connectionMemory = settings.connectionMemory
  }
}

/// The connections that libmicrohttpd leaves alone until they are resumed.
///
/// Each is resumed once: when its answer is made, when its stream ends, or when the server stops.
final class SuspendedConnections: Sendable {
  private struct State {
    var connections: Set<UInt> = []
    var isStopping = false
  }

  private let state = Mutex(State())

  /// Suspends a connection, from a callback of it; false if the server stops.
  func suspend(_ connection: OpaquePointer) -> Bool {
    state.withLock { state in
      guard !state.isStopping else { return false }
      state.connections.insert(UInt(bitPattern: connection))
      MHD_suspend_connection(connection)
      return true
    }
  }

  /// Resumes a connection, unless that has been done.
  func resume(_ connection: UInt) {
    state.withLock { state in
      guard state.connections.remove(connection) != nil else { return }
      MHD_resume_connection(OpaquePointer(bitPattern: connection))
    }
  }

  /// Resumes all; no further connection can be suspended.
  func resumeAll() {
    state.withLock { state in
      state.isStopping = true
      for connection in state.connections {
        MHD_resume_connection(OpaquePointer(bitPattern: connection))
      }
      state.connections = []
    }
  }
}

/// A body without an end, whose socket is handed over when the header has been sent.
final class StreamBody: Sendable {
  private let connection: UInt
  private let suspended: SuspendedConnections
  private let start: Mutex<(@Sendable (TakenSocket) -> Void)?>
  private let response = Mutex<UInt?>(nil)

  init(
    _ connection: OpaquePointer, _ suspended: SuspendedConnections,
    _ start: @escaping @Sendable (TakenSocket) -> Void
  ) {
    self.connection = UInt(bitPattern: connection)
    self.suspended = suspended
    self.start = Mutex(start)
  }

  /// Sets the response. Its header fields are freed once they have been sent.
  func belongs(to response: OpaquePointer) {
    self.response.withLock { $0 = UInt(bitPattern: response) }
  }

  /// Frees the fields of the header, which take more than a kilobyte for each stream. "Connection" stays, because
  /// the library remembers that there is one.
  private func releaseHeader() {
    guard let response = response.withLock({ $0.take() }),
      let response = OpaquePointer(bitPattern: response)
    else { return }
    var fields: [(name: String, value: String)] = []
    withUnsafeMutablePointer(to: &fields) { fields in
      _ = MHD_get_response_headers(
        response,
        { fields, _, name, value in
          guard let name, let value else { return .YES }
          fields?.assumingMemoryBound(to: [(name: String, value: String)].self).pointee.append(
            (String(cString: name), String(cString: value)))
          return .YES
        }, fields)
    }
    for field in fields where field.name != "Connection" {
      _ = MHD_del_response_header(response, field.name, field.value)
    }
  }

  /// Suspends the connection and hands its socket over; false if that was done before, and the stream has ended.
  func begin() -> Bool {
    releaseHeader()
    guard let start = start.withLock({ $0.take() }),
      let pointer = OpaquePointer(bitPattern: connection), suspended.suspend(pointer)
    else { return false }
    let (place, suspended) = (connection, suspended)
    start(
      TakenSocket(descriptor: quake_mhd_connection_socket(pointer)) { suspended.resume(place) })
    return true
  }
}

/// A connection that changes to another protocol. Its exchange keeps it: libmicrohttpd does not tell when it will
/// not change.
final class Upgrade: Sendable {
  private let start: Mutex<(@Sendable (TakenSocket) -> Void)?>

  init(_ start: @escaping @Sendable (TakenSocket) -> Void) {
    self.start = Mutex(start)
  }

  /// Hands the socket over.
  func begin(
    _ socket: Int32, _ received: UnsafePointer<CChar>?, _ size: Int, _ handle: OpaquePointer
  ) {
    let bytes = Array(UnsafeRawBufferPointer(start: received, count: received == nil ? 0 : size))
    let place = UInt(bitPattern: handle)
    guard let start = start.withLock({ $0.take() }) else { return }
    start(
      TakenSocket(descriptor: socket, received: bytes) {
        if let handle = OpaquePointer(bitPattern: place) { _ = quake_mhd_end_upgrade(handle) }
      })
  }
}
