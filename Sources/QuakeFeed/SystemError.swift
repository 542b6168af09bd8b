import Glibc

/// The system's description of an `errno`.
enum SystemError {
  /// The description as a sentence.
  static func sentence(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard strerror_r(code, &text, text.count) == 0 else { return "System error \(code)." }
    return text.withUnsafeBytes { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) + "."
    }
  }
}
