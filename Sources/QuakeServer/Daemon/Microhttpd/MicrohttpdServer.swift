import Basics
import CMicrohttpd
import Glibc
import Synchronization

/// The HTTP server: libmicrohttpd reads and writes the connections on threads of its own, and calls
/// `HTTPService` for the answers.
///
/// It runs from `init` until `stop`. Safe to use from any thread.
final class MicrohttpdServer: Sendable {
  struct Settings: Sendable {
    /// The most connections at once.
    var mostConnections = 20_000
    /// How long a client may take to send a request, and to read a part of an answer.
    var requestTimeout = Duration.seconds(60)
    /// Memory for the header of a request, per connection. Idle streams cost little more than this.
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
    context = MicrohttpdContext(service, connections, requestTimeout: settings.requestTimeout)
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
