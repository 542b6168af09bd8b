package import Basics
import CMicrohttpd
import Glibc
package import QuakeModel
import Synchronization

/// An HTTP server on 127.0.0.1 that serves a simulated catalogue at USGS's paths.
///
/// It runs on a thread of its own from `init` until `stop`; safe to use from any thread.
package final class SimulatedFeedServer: Sendable {
  /// The port, also where any was asked for: 1 to 65535.
  package let port: Int
  private let service: SimulatedService
  /// The address of the `MHD_Daemon`; nil once it has stopped.
  private let daemon: Mutex<UInt?>

  package init(_ options: SimulatorOptions = SimulatorOptions()) throws(SimulatorError) {
    let socket = try Self.listen(on: options.port)
    port = socket.port
    service = SimulatedService(options, baseURL: "http://127.0.0.1:\(socket.port)")
    // The date comes from the simulator's own clock.
    let flags =
      MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_SUPPRESS_DATE_NO_CLOCK.rawValue
    let started = quake_mhd_start_on_socket(
      flags, socket.descriptor, { handleRequest($0, $1, $2, $3, $4, $5, $6, $7) },
      Unmanaged.passUnretained(service).toOpaque())
    // From here on libmicrohttpd owns the socket. It is not documented whether it closes the socket if it
    // cannot start. Closing it twice could close another file, so the socket may leak in that case.
    daemon = Mutex(started.map { UInt(bitPattern: $0) })
    guard started != nil else {
      throw SimulatorError(
        "could not start the simulator's HTTP server",
        detail: "libmicrohttpd gave no reason.",
        hint: "The limits on threads or open files may be too low.")
    }
  }

  private static func listen(on port: Int) throws(SimulatorError) -> ListeningSocket {
    do throws(SystemFailure) {
      return try ListeningSocket(host: "127.0.0.1", port: port, backlog: 128)
    } catch {
      throw SimulatorError(listeningOn: port, error)
    }
  }

  deinit {
    stop()
  }

  /// `http://127.0.0.1:PORT`, without a slash at its end.
  package var baseURL: String { service.baseURL }

  /// The address of a summary feed on this server.
  package func url(of feed: SummaryFeed) -> String { service.url(of: feed) }

  /// Closes all connections and ends the thread; does nothing the second time.
  ///
  /// Returns when the thread has ended, after at most the answer in progress. Do not call it from that
  /// thread.
  package func stop() {
    let running = daemon.withLock { daemon -> UInt? in
      defer { daemon = nil }
      return daemon
    }
    guard let running, let running = OpaquePointer(bitPattern: running) else { return }
    MHD_stop_daemon(running)
  }
}

/// An error of the simulator, in the style of PostgreSQL's messages.
package struct SimulatorError: ExplainedError, Sendable {
  /// One line in lower case, without a full stop.
  package var message: String
  package var detail: String?
  package var hint: String?
  /// A port, a server or an output is unavailable.
  package var category: ErrorCategory { .unavailable }

  init(_ message: String, detail: String? = nil, hint: String? = nil) {
    self.message = message
    self.detail = detail
    self.hint = hint
  }

  /// The simulator cannot listen on a port.
  init(listeningOn port: Int, _ failure: SystemFailure) {
    let hint =
      switch failure.code {
      case EADDRINUSE: "Choose another port, or 0 for any that is free."
      case EACCES: "Ports below 1024 need privileges: choose a higher one."
      default: nil as String?
      }
    self.init(
      "could not listen on 127.0.0.1 port \(port): \(failure.reason)",
      detail: failure.code == EADDRINUSE ? "Another program listens there." : nil, hint: hint)
  }
}
