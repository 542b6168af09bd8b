internal import Glibc

/// A question to the person at the terminal.
public enum Confirmation {
  /// Whether there is one: standard input is read, and standard error shows the question.
  public static var isPossible: Bool { Terminal.isTerminal(0) && Terminal.isTerminal(2) }

  /// Asks; anything but "y" or "yes" is no.
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
