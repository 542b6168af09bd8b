package import Basics
internal import Glibc

/// An address to listen on: `127.0.0.1:8080`, `[::1]:8080`, or `localhost:0` for any free port.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
  /// A name or a numeric address; empty: all addresses.
  package let host: String
  /// 0 to 65535; 0: any free port.
  package let port: Int

  /// Reads `HOST:PORT`; nil if it has another form.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.contains(where: { $0 == "[" || $0 == "]" }) else { return nil }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = Int(digits), (0...65_535).contains(port)
    else { return nil }
    self.init(host: String(host), port: port)
  }

  init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// `HOST:PORT`.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Listens at the first address that the host's name has.
  ///
  /// - Returns: The socket, and the address with its port.
  func listen() throws(ListenError) -> (descriptor: Int32, address: ListenAddress) {
    do throws(SystemFailure) {
      let socket = try ListeningSocket(host: host, port: port, backlog: 4096)
      return (socket.descriptor, ListenAddress(host: host, port: socket.port))
    } catch {
      throw ListenError(self, error)
    }
  }
}

/// The server cannot listen on its address.
package struct ListenError: ExplainedError {
  /// What failed.
  package let message: String
  /// What to do.
  package let hint: String?
  /// What a caller can do about it.
  package let category: ErrorCategory

  init(_ address: ListenAddress, _ failure: SystemFailure) {
    let code = failure.code
    message = "could not listen on \(address): \(failure.reason)"
    category = code == EINVAL ? .usage : code == EACCES ? .notAllowed : .unavailable
    hint =
      switch code {
      case EADDRINUSE: "Another program listens there. Choose another port."
      case EACCES: "Ports below 1024 need privileges. Choose a higher one."
      case EADDRNOTAVAIL: "The machine has no such address."
      default: nil
      }
  }
}
