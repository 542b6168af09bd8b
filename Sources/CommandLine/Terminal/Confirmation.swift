internal import Glibc

/// Asks the person at the terminal for confirmation.
public enum Confirmation {
  /// Whether standard input and standard error, which shows the question, are terminals.
  public static var isPossible: Bool { Terminal.isTerminal(0) && Terminal.isTerminal(2) }

  /// Asks a question; every answer except "y" and "yes" is no.
  public static func ask(_ question: String) -> Bool {
    guard Descriptor.writeAll(PrintableText.clean(question) + " [y/N] ", to: 2) == nil else {
      return false
    }
    var line = [UInt8](repeating: 0, count: 256)
    let count = read(0, &line, line.count)
    guard count > 0 else { return false }
    let answer = line[..<count].filter { $0 > 0x20 }.map { $0 | 0x20 }
    return answer == Array("y".utf8) || answer == Array("yes".utf8)
  }
}
