import Basics
import Postgres

/// Quake itself: `quake-ingest import`.
struct QuakeImport: Contender {
  let name: String
  /// Options of `quake-ingest import`.
  let arguments: [String]
  /// An option that this `quake-ingest` must have; nil: none.
  var needs: String?
  let summary: String
  let layout = Layout.quake
  let keepsHistory = true
  let contents = Contents.statement(table: "quake.quake")

  func availability(_ bench: Bench) -> Availability {
    var help = bench.tool("quake-ingest", ["import", "--help"])
    help.timeout = .seconds(60)
    guard let outcome = try? help.run(), outcome.succeeded,
      let version = bench.firstLine(of: bench.options.bin + "/quake-ingest", ["--version"])
    else { return .absent(hint: "run \"make build\", or name the tools' folder with --bin") }
    if let needs, !String(decoding: outcome.output, as: UTF8.self).contains(needs) {
      return .absent(hint: "this quake-ingest has no \(needs)")
    }
    return .present(version: version)
  }

  func command(
    loading file: DataFile, into database: String, _ bench: Bench
  ) throws -> ChildProcess {
    bench.tool(
      "quake-ingest", ["import", "--quiet"] + arguments + [file.path], database: database)
  }
}

extension Databases {
  /// The contender that stores the rows which the limit copies.
  var importer: (any Contender)? {
    ContenderList.all.first { $0 is QuakeImport }
  }
}
