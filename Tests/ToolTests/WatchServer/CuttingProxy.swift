import Foundation
import Synchronization
import TestSupport
import Testing

/// A TCP proxy in front of a server on this machine that ends each connection after a number of bytes to the
/// client.
final class CuttingProxy: Sendable {
  private struct State {
    /// After how many bytes the next connections end, one after the other; then the last of them applies.
    var cuts: [Int]
    var target: Int
    var connections = 0
    var open: Set<Int32> = []
    var isStopped = false
  }

  let port: Int
  private let listener: Int32
  private let state: Mutex<State>

  var url: String { "http://127.0.0.1:\(port)" }

  /// How many connections there have been.
  var connections: Int { state.withLock { $0.connections } }

  init(to target: Int, cuts: [Int] = [.max]) throws {
    state = Mutex(State(cuts: cuts, target: target))
    (listener, port) = try LoopbackListener.open()
    Thread.detachNewThread { [weak self, listener] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let proxy = self else { return }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        Thread.detachNewThread { proxy.serve(client) }
      }
    }
  }

  deinit { stop() }

  /// Cuts the next connections after these numbers of bytes.
  func set(_ cuts: [Int]) { state.withLock { $0.cuts = cuts } }

  /// Leads new connections to another port.
  func lead(to port: Int) { state.withLock { $0.target = port } }

  /// Ends all connections.
  func cut() {
    state.withLock { for descriptor in $0.open { shutdown(descriptor, Int32(SHUT_RDWR)) } }
  }

  func stop() {
    let isFirst = state.withLock { state in
      defer { state.isStopped = true }
      return !state.isStopped
    }
    guard isFirst else { return }
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    cut()
  }

  private func serve(_ client: Int32) {
    let (cut, target) = state.withLock { state in
      state.connections += 1
      state.open.insert(client)
      let cut = state.cuts.count > 1 ? state.cuts.removeFirst() : state.cuts.first ?? .max
      return (cut, state.target)
    }
    defer {
      _ = state.withLock { $0.open.remove(client) }
      close(client)
    }
    guard let server = Self.connect(target) else { return }
    defer { close(server) }
    var left = cut
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while left > 0 {
      var waiting = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      poll(&waiting, 2, -1)
      if waiting[0].revents != 0 {
        let count = recv(client, &buffer, buffer.count, 0)
        guard count > 0, Self.send(server, buffer[..<count]) else { return }
      }
      if waiting[1].revents != 0 {
        let count = recv(server, &buffer, buffer.count, 0)
        guard count > 0, Self.send(client, buffer[..<min(count, left)]) else { return }
        left -= count
      }
    }
  }

  private static func send(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func connect(_ port: Int) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if isConnected { return descriptor }
    close(descriptor)
    return nil
  }
}
