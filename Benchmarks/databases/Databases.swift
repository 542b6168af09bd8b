import CommandLine
import Postgres
import QuakeModel
import QuakeSchema
import QuakeTool

/// The databases that runs start with. Each is filled once, by the contender itself, and copied.
final class Databases {
  private let server: BenchServer
  private var made: [State: String] = [:]
  private var count = 0

  private struct State: Hashable {
    var layout: Layout
    /// The name of the file that has been loaded; nil: none.
    var loaded: String?
  }

  init(_ server: BenchServer) {
    self.server = server
  }

  /// The database whose copies a contender's runs start with.
  ///
  /// - Parameter before: What has been loaded already; nil: nothing.
  func template(
    for contender: any Contender, before: DataFile?, _ bench: Bench
  ) throws -> String {
    let state = State(layout: contender.layout, loaded: before?.name)
    if let name = made[state] { return name }
    let origin =
      before == nil ? "template0" : try template(for: contender, before: nil, bench)
    count += 1
    let name = "state_\(count)"
    try server.create(name, from: origin)
    if let before {
      bench.diagnostics.note("preparing what \(contender.name) starts from")
      _ = try MeasuredChild(folder: bench.folder).run(
        contender.command(loading: before, into: name, bench))
      try server.waitUntilLeft(name)
      let connection = try server.connect(name)
      try contender.check(before, over: connection)
      // As autovacuum leaves a store.
      try connection.execute("vacuum (analyze)")
    } else {
      try lay(contender.layout, in: name)
    }
    try server.waitUntilLeft(name)
    made[state] = name
    return name
  }

  private func lay(_ layout: Layout, in database: String) throws {
    if case .own = layout { return }
    let connection = try server.connect(database)
    _ = try Migrator(connection: connection, program: "quake-bench \(productVersion)").migrate()
    if layout == .plain {
      try connection.execute(
        """
        create table public.plain
          (like quake.quake including defaults including constraints including indexes)
        """)
    }
  }
}

extension Contender {
  /// Throws unless it has stored the file.
  func check(_ file: DataFile, over connection: Connection) throws {
    let stored = try Contents(contents, over: connection)
    guard stored == file.contents else {
      throw BenchFailure(
        "\(name) left wrong rows of \(file.name)",
        detail: "There should be \(file.contents); there are \(stored).")
    }
  }
}
