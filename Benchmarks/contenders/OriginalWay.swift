import Basics
import Postgres

/// One of the three methods that Quake's predecessor, a sample project, compares, rebuilt on
/// PostgreSQL. The third, streaming, is Quake itself.
struct OriginalWay: Contender {
  let name: String
  let role: Role
  let pace: Pace
  let summary: String
  let layout = Layout.plain
  let contents = Contents.statement(table: "public.plain")

  func availability(_ bench: Bench) -> Availability {
    .present(version: "this program")
  }

  func command(
    loading file: DataFile, into database: String, _ bench: Bench
  ) throws -> ChildProcess {
    bench.program(BenchOptions.program, role.arguments + [file.path], database: database)
  }
}
