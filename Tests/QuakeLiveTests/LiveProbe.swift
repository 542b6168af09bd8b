import ChildProcesses
import Glibc

/// The program that measures itself: memory belongs to a whole process, and the tests share one.
enum LiveProbe {
  struct Failure: Error {
    var output: String
  }

  /// Runs it; the numbers that it prints.
  static func run(_ arguments: [String]) throws -> [Int] {
    var child = ChildProcess(folder + "/live-probe", arguments)
    child.timeout = .seconds(200)
    let outcome = try child.run()
    guard outcome.succeeded else {
      throw Failure(output: "\(outcome.ending) " + String(decoding: outcome.errors, as: UTF8.self))
    }
    return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").compactMap {
      Int($0)
    }
  }

  /// Where the tests are, and all that is built with them.
  private static var folder: String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    let program = String(decoding: path.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
    return program.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
  }
}
