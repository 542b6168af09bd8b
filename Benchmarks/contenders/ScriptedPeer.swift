import Basics
import CommandLine

/// A peer that is a Python script beside these sources.
protocol ScriptedPeer: Contender {
  /// The script's file.
  var script: String { get }
  /// The Python packages that it needs; the report has their versions.
  var packages: [String] { get }
  /// How to install them.
  var hint: String { get }
}

extension ScriptedPeer {
  func availability(_ bench: Bench) -> Availability {
    guard let python = SearchPath.find(bench.options.python) else {
      return .absent(hint: "install python3, or name one in PYTHON")
    }
    let names = packages.map { "'\($0)'" }.joined(separator: ", ")
    let program = """
      import importlib.metadata as m, platform
      print(', '.join(f'{p} {m.version(p)}' for p in [\(names)]) + ', Python ' + platform.python_version())
      """
    guard let version = bench.firstLine(of: python, ["-c", program]) else {
      return .absent(hint: hint)
    }
    return .present(version: version)
  }

  func command(
    loading file: DataFile, into database: String, _ bench: Bench
  ) throws -> ChildProcess {
    guard let python = SearchPath.find(bench.options.python) else {
      throw BenchFailure("there is no \(bench.options.python)")
    }
    return bench.program(
      python, [Scripts.folder + "/" + script, file.path], database: database)
  }
}

/// Where the scripts are: beside the sources that this program was built from.
enum Scripts {
  static let folder: String = {
    let path = #filePath
    return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }()
}
