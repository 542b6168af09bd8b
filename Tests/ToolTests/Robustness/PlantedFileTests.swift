import Foundation
import TestSupport
import Testing

/// Files and links that other users may have put where the tools keep their files.
@Suite final class PlantedFileTests: ToolSuite {
  override init() throws {
    try super.init()
    try database.insert("a")
  }

  private func watch(_ state: String) throws -> ToolProcess.Outcome {
    try database.run("quake-watch", ["--from-start", "--no-follow", "--state", state])
  }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  /// The temporary file was once named after the file and the process id: with a link of that name,
  /// another user could choose where the watcher wrote.
  @Test func aTemporaryNameCannotBePlanted() throws {
    let target = try folder.write("target", "precious")
    let state = folder.path + "/state"
    // A shell creates the links and becomes the watcher, so that its process id is in their names.
    let tool = try Tools.startShell(
      """
      ln -s '\(target)' "\(state).$$.new"
      ln '\(target)' "\(state).$$" 
      exec quake-watch \(["--from-start", "--no-follow", "--state", state, "--database", "'\(database.conninfo)'"].joined(separator: " "))
      """)
    let planted = "state.\(tool.pid)"
    try tool.exit().expect(0)
    #expect(try contents(of: target) == "precious")
    #expect(try files() == ["state", "target", planted, planted + ".new"].sorted())
    let kept = try contents(of: state)
    #expect(kept.hasPrefix("1."))
  }

  @Test(arguments: ["soft", "hard"])
  func aLinkInItsPlaceIsReplaced(_ kind: String) throws {
    let target = try folder.write("target", "0\n")
    let state = folder.path + "/state"
    if kind == "soft" {
      try FileManager.default.createSymbolicLink(atPath: state, withDestinationPath: target)
    } else {
      #expect(link(target, state) == 0)
    }
    let outcome = try watch(state).expect(0)
    #expect(outcome.lines.count == 1, "\(outcome.errors)")
    #expect(try contents(of: target) == "0\n")
    #expect(try contents(of: state).hasPrefix("1."))
    #expect(try files() == ["state", "target"])
  }

  /// With a named pipe, the tool would wait for a writer.
  @Test func onlyRegularFilesAreAccepted() throws {
    let pipe = folder.path + "/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    for place in [pipe, folder.path, "/dev/null"] {
      try watch(place).expect(1, "not a regular file")
      try database.run("quake-admin", ["status", "--prometheus", "--output", place]).expect(
        1, "not a regular file")
    }
    var there = stat()
    #expect(stat(pipe, &there) == 0 && there.st_mode & S_IFMT == S_IFIFO)
    #expect(try files() == ["pipe"])
  }

  /// In a folder like /tmp, where every user may create files.
  @Test(.enabled(if: geteuid() == 0))
  func anotherUsersFileInAnOpenFolderIsRefused() throws {
    let open = folder.path + "/open"
    try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
    #expect(chmod(open, 0o1777) == 0)
    let state = open + "/state"
    try Data("0\n".utf8).write(to: URL(fileURLWithPath: state))
    #expect(chown(state, 65534, 65534) == 0)
    try watch(state).expectFailure(1, "another user")
    // Another user's link to the caller's own file is refused, too.
    let own = try folder.write("own", "0\n")
    unlink(state)
    #expect(symlink(own, state) == 0 && lchown(state, 65534, 65534) == 0)
    try watch(state).expectFailure(1)
    // In a folder that other users cannot write to, the same file is accepted.
    unlink(state)
    try Data("0\n".utf8).write(to: URL(fileURLWithPath: state))
    #expect(chown(state, 65534, 65534) == 0 && chmod(open, 0o755) == 0)
    #expect(try watch(state).lines.count == 1)
  }

  /// A feed's body is kept in TMPDIR, in a file without a name. An error names the folder and
  /// TMPDIR.
  @Test func temporaryFilesAreInTMPDIR() throws {
    let server = try ScriptedServer(200, body: Array(Feeds.collection(count: 2).utf8))
    // A polled snapshot is judged, and its body is kept for the quarantine.
    let poll = ["run", "--once", "--feed", server.url] + database.option
    let missing = folder.path + "/missing"
    let failed = try Tools.run("quake-ingest", poll, environment: ["TMPDIR": missing])
    #expect(failed.status != 0)
    #expect(failed.errors.contains(missing) && failed.errors.contains("TMPDIR"), "\(failed.errors)")
    let own = folder.path + "/own"
    try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false)
    try Tools.succeed("quake-ingest", poll, environment: ["TMPDIR": own])
    #expect(try FileManager.default.contentsOfDirectory(atPath: own).isEmpty)
  }
}
