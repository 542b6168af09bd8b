import TestSupport
import Testing

/// The version of every tool, and what it says about a wrong option.
@Suite struct CommandLineTests {
  @Test func eachToolTellsItsVersionAndRefusesAWrongOption() throws {
    let schema = try TestDatabase().value("select max(version) from quake.migration")
    for tool in ["quake-ingest", "quake-watch", "quake-query", "quake-admin", "quake-serve"] {
      let version = try Tools.run(tool, ["--version"])
      #expect(version.status == 0 && version.errors.isEmpty, "\(version.errors)")
      let form =
        #/(\S+) \d+\.\d+\.\d+ \(commit (?:[0-9a-f]{8,}(?:-dirty)?|unknown), schema (\d+)\)\n/#
      let words = version.output.wholeMatch(of: form)
      #expect(words?.1 == tool[...] && words?.2 == schema[...], "\(version.output)")
      let wrong = try Tools.run(tool, ["--no-such-option"])
      #expect(wrong.status == 64 && wrong.output.isEmpty, "\(wrong.errors)")
      #expect(wrong.errors.hasPrefix("\(tool): error: unknown option '--no-such-option'"))
    }
  }
}
