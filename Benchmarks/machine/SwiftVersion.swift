/// The compiler that this program and the tools were built with, as far as the source code can
/// tell.
enum SwiftVersion {
  #if compiler(>=6.4)
    static let text = "6.4 or later"
  #elseif compiler(>=6.3)
    static let text = "6.3"
  #elseif compiler(>=6.2)
    static let text = "6.2"
  #elseif compiler(>=6.1)
    static let text = "6.1"
  #else
    static let text = "6.0"
  #endif
}
