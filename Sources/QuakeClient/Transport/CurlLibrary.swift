internal import CDynamicCurl

/// libcurl, which is loaded for the first request.
enum CurlLibrary {
  /// Why it cannot be used; nil if it can. The initialisation of a Swift global is thread-safe.
  private static let problem: String? = quake_curl_load().map { String(cString: $0) }

  /// Makes sure that libcurl is there.
  static func load() throws(ServerError) {
    guard let problem else { return }
    throw ServerError(
      .noLibrary, "cannot follow a server, because libcurl could not be loaded",
      detail: "The system's loader says: \(problem).",
      hint: "Install libcurl: package libcurl4 on Debian and Ubuntu, libcurl on Fedora.")
  }
}
