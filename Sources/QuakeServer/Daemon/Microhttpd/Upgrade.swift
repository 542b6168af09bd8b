import CMicrohttpd
import Synchronization

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
