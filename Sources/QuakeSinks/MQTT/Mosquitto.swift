internal import CLibcurl

/// libmosquitto, which is loaded when something first needs it.
enum Mosquitto {
  /// Why no broker can be reached.
  enum Problem: Error {
    /// The library is missing; the system's loader gives the reason.
    case notLoaded(String)
    case noMemory

    /// More about it, in a sentence.
    var detail: String {
      switch self {
      case .notLoaded(let reason): "The system's loader says: \(reason)."
      case .noMemory: "libmosquitto has no memory."
      }
    }

    /// What to do about it, in a sentence.
    var hint: String? {
      guard case .notLoaded = self else { return nil }
      return
        "Install libmosquitto 2: libmosquitto1 on Debian and Ubuntu, mosquitto on Fedora."
    }
  }

  /// Nil if libmosquitto can be used. The initialisation of a Swift global is thread-safe.
  private static let problem: Problem? =
    quake_mosquitto_load().map { .notLoaded(String(cString: $0)) }

  /// Loads it.
  static func load() throws(Problem) {
    if let problem { throw problem }
  }
}
