internal import Basics
internal import Glibc
internal import SwiftOverlayShims  // where this compiler finds the members of timeval

/// Reports the state of the program to systemd, by the protocol of sd_notify(3).
///
/// libsystemd is not used: the protocol is one datagram to a socket, documented as stable, and the library
/// would load compression and cryptography into the process.
///
/// Use it from one thread only. Without a service manager it sends nothing. Messages that cannot be delivered
/// are lost; the program's work does not depend on them.
package final class ServiceManager {
  private let socket: String?
  private let tick: Duration?
  private var due: Duration

  /// The service manager that the process's environment describes.
  package convenience init() {
    self.init(
      socket: Environment.value("NOTIFY_SOCKET"), watchdog: Environment.value("WATCHDOG_USEC"),
      watched: Environment.value("WATCHDOG_PID"))
  }

  /// A service manager as these variables describe it.
  ///
  /// - Parameters:
  ///   - socket: `NOTIFY_SOCKET`: the path of a socket, or `@` and an abstract name; nil, or any other text,
  ///     if there is no service manager.
  ///   - watchdog: `WATCHDOG_USEC`: the microseconds without a message after which systemd considers the
  ///     program hung.
  ///   - watched: `WATCHDOG_PID`: the process that the watchdog supervises, if it is set.
  package init(socket: String?, watchdog: String? = nil, watched: String? = nil) {
    self.socket = socket.flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    let isMeant = watched.map { $0 == "\(getpid())" } ?? true
    let limit = watchdog.flatMap { Int64($0) } ?? 0
    tick = self.socket != nil && isMeant && limit > 0 ? .microseconds(limit / 2) : nil
    due = MonotonicClock.now()
  }

  package func ready(_ status: String) {
    send("READY=1\nSTATUS=" + PrintableText.line(status))
  }

  /// Reports what the program is doing, in one line for people.
  package func status(_ status: String) { send("STATUS=" + PrintableText.line(status)) }

  package func stopping() { send("STOPPING=1") }

  /// Feeds the watchdog. Call it in each round of the main loop: it sends a message only when half of the
  /// watchdog's time has passed.
  package func alive() {
    guard let tick, MonotonicClock.now() >= due else { return }
    due = MonotonicClock.now() + tick
    send("WATCHDOG=1")
  }

  /// The time until ``alive()`` must be called; nil if there is no watchdog.
  package var remaining: Duration? {
    tick == nil ? nil : max(.zero, due - MonotonicClock.now())
  }

  /// Like `Signals.wait`, but feeds the watchdog meanwhile.
  package func wait(timeout: Duration) -> Bool {
    let end = MonotonicClock.now() + timeout
    while true {
      alive()
      let begun = MonotonicClock.now()
      let rest = max(.zero, end - begun)
      let slice = tick == nil ? rest : min(rest, max(.zero, due - begun))
      if Signals.wait(timeout: slice) { return true }
      // A wait that ended early was ended by a signal.
      if slice == rest || MonotonicClock.now() - begun < slice { return false }
    }
  }

  private func send(_ message: String) {
    guard let socket else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(socket.utf8)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    if name.first == UInt8(ascii: "@") { name[0] = 0 }  // an abstract name begins with NUL
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let size = socklen_t(
      MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + name.count } ?? 0)
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // A manager that does not read must not block the program for long.
    var patience = timeval(tv_sec: 2, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let bytes = Array(message.utf8)
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, size)
      }
    }
  }
}
