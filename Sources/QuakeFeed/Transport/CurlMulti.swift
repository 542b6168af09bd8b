import Basics
import CLibcurl
import Glibc

/// libcurl's event loop and its pool of connections, which all transfers of a client share.
final class CurlMulti {
  /// libcurl must be initialised first, once for the process. The initialisation of a Swift global is
  /// thread-safe.
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

  /// Runs the transfers without waiting, and notifies finished ones.
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
      // A transfer removes itself from the loop before it is freed, so the pointer is valid.
      let transfer = Unmanaged<HTTPTransfer>.fromOpaque(owner).takeUnretainedValue()
      transfer.didFinish(message.pointee.data.result)
    }
    return Int((MonotonicClock.now() - begun) / .nanoseconds(1))
  }

  /// Waits for the network, until one of `descriptors` is readable, or until the time is up.
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
