import CLibcurl
import Glibc
import SystemClock

/// libcurl's event loop and its pool of connections, which outlive the single transfer.
final class CurlMulti {
  /// Once for the process, and thread-safe because Swift's globals are; the library wants it before
  /// anything else.
  private static let global: CURLcode = curl_global_init(Int(CURL_GLOBAL_ALL))

  let handle: UnsafeMutableRawPointer

  init() {
    precondition(Self.global == CURLE_OK, "libcurl could not be initialised")
    guard let handle = curl_multi_init() else {
      preconditionFailure("libcurl has no memory for a transfer")
    }
    self.handle = handle
  }

  deinit {
    curl_multi_cleanup(handle)
  }

  /// Does what can be done without waiting, and tells finished transfers.
  ///
  /// - Returns: How long it took, in nanoseconds.
  @discardableResult
  func perform() -> Int {
    let begun = MonotonicClock.now()
    var running: Int32 = 0
    curl_multi_perform(handle, &running)
    var left: Int32 = 0
    while let message = curl_multi_info_read(handle, &left) {
      guard message.pointee.msg == CURLMSG_DONE else { continue }
      var owner: UnsafeMutableRawPointer?
      quake_curl_get_pointer(message.pointee.easy_handle, CURLINFO_PRIVATE, &owner)
      guard let owner else { continue }
      // The transfer takes itself off the loop before it goes away, so it is still there.
      let transfer = Unmanaged<HTTPTransfer>.fromOpaque(owner).takeUnretainedValue()
      transfer.didFinish(message.pointee.data.result)
    }
    return Int((MonotonicClock.now() - begun) / .nanoseconds(1))
  }

  /// Waits for the network, or until one of `descriptors` is readable, at most so long.
  ///
  /// - Returns: How long it took, in nanoseconds.
  @discardableResult
  func wait(milliseconds: Int, beside descriptors: [Int32] = []) -> Int {
    let begun = MonotonicClock.now()
    var others = descriptors.filter { $0 >= 0 }.map {
      curl_waitfd(fd: $0, events: Int16(CURL_WAIT_POLLIN), revents: 0)
    }
    let count = UInt32(others.count)
    curl_multi_poll(handle, &others, count, Int32(clamping: milliseconds), nil)
    return Int((MonotonicClock.now() - begun) / .nanoseconds(1))
  }
}
