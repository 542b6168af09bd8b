internal import CLibcurl
package import Glibc

/// A library that is loaded when something first needs it cannot be used.
package struct LibraryProblem: Error {
  /// More about it, in a sentence.
  package let detail: String
  /// What to do about it, in a sentence; nil if the library is there.
  package let hint: String?

  package init(detail: String) {
    self.detail = detail
    hint = nil
  }

  /// The library is missing.
  ///
  /// - Parameter reason: What the system's loader says.
  package init(loader reason: UnsafePointer<CChar>, hint: String) {
    detail = "The system's loader says: \(String(cString: reason))."
    self.hint = hint
  }
}

/// libcurl, which is loaded when something first needs it.
package enum Curl {
  static let noMemory = LibraryProblem(detail: "libcurl has no memory.")

  /// Nil if libcurl can be used. The initialisation of a Swift global is thread-safe.
  private static let problem: LibraryProblem? = quake_curl_load().map {
    LibraryProblem(
      loader: $0,
      hint: "Install libcurl: package libcurl4 on Debian and Ubuntu, libcurl on Fedora.")
  }

  package static func load() throws(LibraryProblem) {
    if let problem { throw problem }
  }

  /// The seconds from 1970 of a date in any of the three forms of HTTP; nil for anything else.
  package static func date(_ text: String) -> Int64? {
    guard problem == nil else { return nil }
    let seconds = quake_curl_date(text)
    return seconds < 0 ? nil : Int64(seconds)
  }
}

/// A URL as libcurl reads it.
package struct CurlURL {
  /// In lower case.
  package let scheme: String
  /// Without brackets; an IPv4 address in the form of four numbers, however it is written.
  package let host: String

  /// Nil if libcurl rejects the text.
  package init?(_ text: String) {
    func part(_ part: CURLUPart) -> String? {
      guard let value = quake_curl_url_part(text, part, 0) else { return nil }
      defer { free(value) }
      return String(cString: value)
    }
    do throws(LibraryProblem) { try Curl.load() } catch { return nil }
    guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST) else { return nil }
    self.scheme = scheme
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
  }
}

/// libcurl's event loop and its pool of connections, which all transfers of an owner share.
package final class CurlLoop {
  /// Nil before the first transfer.
  private var handle: UnsafeMutableRawPointer?

  package init() {}

  deinit { if let handle { quake_curl_loop_end(handle) } }

  func add(_ easy: UnsafeMutableRawPointer) throws(LibraryProblem) {
    if handle == nil { handle = quake_curl_loop_begin() }
    guard let handle, quake_curl_loop_add(handle, easy) == CURLM_OK else {
      throw Curl.noMemory
    }
  }

  func remove(_ easy: UnsafeMutableRawPointer) { quake_curl_loop_remove(handle, easy) }

  package func run() {
    guard let handle else { return }
    quake_curl_loop_run(handle)
    var result = CURLE_OK
    while let owner = quake_curl_loop_ended(handle, &result) {
      // A transfer removes itself from the loop before it is freed, so the pointer is valid.
      Unmanaged<CurlTransfer>.fromOpaque(owner).takeUnretainedValue().finish(result)
    }
  }

  /// Waits for the network, until one of `descriptors` is readable, or until the time is up.
  ///
  /// - Returns: Whether one of the descriptors is readable.
  @discardableResult
  package func wait(milliseconds: Int32, beside descriptors: [Int32] = []) -> Bool {
    wait(
      milliseconds: milliseconds,
      beside: descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) })
  }

  /// Waits for the network, until one of `descriptors` is ready for its events, or until the time is up. Those with a
  /// negative number are ignored. A negative time is no limit.
  ///
  /// - Returns: Whether one of the descriptors is ready.
  @discardableResult
  package func wait(milliseconds: Int32, beside descriptors: [pollfd]) -> Bool {
    var others = descriptors.filter { $0.fd >= 0 }
    guard let handle else { return poll(&others, nfds_t(others.count), milliseconds) > 0 }
    // On Linux, libcurl's bits for reading and writing are those of poll(2).
    var waiting = others.map { curl_waitfd(fd: $0.fd, events: $0.events, revents: 0) }
    // libcurl refuses a negative time, and would not wait at all.
    let limit = milliseconds < 0 ? .max : milliseconds
    quake_curl_loop_wait(handle, &waiting, UInt32(waiting.count), limit)
    return waiting.contains { $0.revents != 0 }
  }
}
