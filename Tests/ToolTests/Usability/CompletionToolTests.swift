import Foundation
import TestSupport
import Testing

/// The completions and the manual pages of the tools.
@Suite final class CompletionToolTests: ToolSuite {
  private static let tools = [
    "quake-ingest", "quake-watch", "quake-query", "quake-admin", "quake-serve",
  ]

  override init() throws {
    try super.init()
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/tools", withDestinationPath: Tools.folder)
  }

  /// What bash offers for the last word, without the tools in PATH.
  private func offered(_ words: [String]) throws -> [String] {
    let line = words.map { "'\($0)'" }.joined(separator: " ")
    let function = "_" + words[0].replacing("-", with: "_")
    return try Tools.shell(
      """
      bash --norc --noprofile -c 'eval "$(\(words[0]) --completions bash)"
        PATH=/usr/bin:/bin; HOME=$PWD; COMP_WORDS=("$@"); COMP_CWORD=\(words.count - 1); \(function)
        printf "%s\\n" "${COMPREPLY[@]}"' bash '~/tools/'\(line)
      """, environment: ["DATABASE_URL": database.conninfo], folder: folder.path
    ).expect(0, errors: "").lines
  }

  /// Waits until these values, which come from the database, are offered: completion stops asking after
  /// 0.1 s, which may be too short beside other tests.
  private func offer(_ words: [String], _ expected: [String]) throws {
    try eventually("\(words) offer \(expected)") { try offered(words) == expected }
  }

  private func fill() throws {
    try database.psql(
      """
      insert into quake.feed (name, url) values ('all_hour', 'x'), ('volcanoes', 'x'), ('$(reboot) x', 'x');
      """)
    for name in ["alerts", "archive"] {
      try database.succeed("quake-watch", ["--name", name, "--no-follow"])
    }
  }

  @Test func namesComeFromTheDatabase() throws {
    try fill()
    try offer(["quake-admin", "watchers", "remove", "a"], ["alerts", "archive"])
    try offer(["quake-watch", "--name", "al"], ["alerts"])
    // A name that a shell would interpret is left out.
    try offer(["quake-admin", "refresh", ""], ["all_hour", "volcanoes"])
    #expect(try offered(["quake-admin", "imports", "apply", ""]) == [])
    #expect(try offered(["quake-admin", "consumers", "show", ""]) == [])
    try folder.write("volcano.geojson", "")
    try offer(["quake-ingest", "run", "--feed", "vol"], ["volcanoes", "volcano.geojson"])
    try offer(["quake-ingest", "run", "--feed", "=", "volcanoe"], ["volcanoes"])
  }

  /// The Tab key waits for nothing: a server that does not answer, and none at all.
  @Test func completionTimesOutAndCreatesNothing() throws {
    let silent = try SilentServer()
    let home = folder.path + "/server"
    for environment in [
      // The program's own limit on connecting would end the wait long after the test's.
      ["DATABASE_URL": "host=127.0.0.1 port=\(silent.port) connect_timeout=3600"],
      ["QUAKE_SERVER_HOME": home],
      ["DATABASE_URL": "host=/nonexistent"], ["DATABASE_URL": "nonsense"],
    ] {
      let begin = ContinuousClock.now
      try Tools.run("quake-admin", ["--candidates", "refresh", ""], environment: environment)
        .expect(0, output: "", errors: "")
      // The timer ends it after 0.1 s; the rest is its start.
      if Tools.isSoak { #expect(ContinuousClock.now - begin < .seconds(1)) }
    }
    #expect(!FileManager.default.fileExists(atPath: home))
  }

  @Test func bashOffersWhatFits() throws {
    try folder.write("volcano.geojson", "")
    #expect(try offered(["quake-query", "list", "--so"]) == ["--source", "--sort"])
    #expect(try offered(["quake-query", "list", "--columns", "time,pl"]) == ["time,place"])
    #expect(try offered(["quake-query", "list", "--columns", "=", "time,pl"]) == ["time,place"])
    // A space is typed with a backslash.
    #expect(try offered(["quake-query", "list", "--type", "qua"]) == ["quarry\\ blast"])
    #expect(
      try offered(["quake-query", "list", "--type", "quarry\\ blast,ice"])
        == ["quarry\\ blast,ice\\ quake"])
    #expect(try offered(["quake-query", "list", "-o", "vol"]) == ["volcano.geojson"])
    #expect(try offered(["quake-watch", "r"]) == ["run", "rehearse"])
  }

  private static let hasFish = access("/usr/bin/fish", X_OK) == 0

  @Test(.enabled(if: hasFish, "fish is not installed"))
  func fishOffersWhatFits() throws {
    try folder.write("volcano.geojson", "")
    for (line, expected) in [
      ("list --columns time,pl", ["time,place"]), ("list --type qua", ["quarry blast"]),
      ("list --columns=time,pl", ["--columns=time,place"]), ("list -o vol", ["volcano.geojson"]),
      ("list --output=vol", ["--output=volcano.geojson"]), ("dif", ["diff"]),
      ("list --no-col", ["--no-color"]),
    ] {
      let outcome = try Tools.shell(
        """
        quake-query --completions fish > script
        PATH=/usr/bin:/bin HOME=$PWD \
          fish --no-config -c "source script; complete -C '~/tools/quake-query \(line)'" | cut -f 1
        """, folder: folder.path)
      #expect(outcome.lines == expected && outcome.errors.isEmpty, "\(outcome.errors)")
    }
  }

  private static let hasZsh = access("/usr/bin/zsh", X_OK) == 0

  /// The functions of zsh's completion system are replaced by some that print what they are given.
  @Test(.enabled(if: hasZsh, "zsh is not installed"))
  func zshOffersWhatFits() throws {
    for (line, expected) in [
      ("list --type qua", "quarry blast\n"), ("list --columns=time,pl", "time,place\n"),
      ("d", "diff:print the net changes between two points of the history, by code\n"),
      ("list -o vol", "_files\n"),
    ] {
      let outcome = try Tools.shell(
        """
        quake-query --completions zsh > script
        zsh -f -c 'compdef() {}; compset() {}; _files() { print _files; }; _describe() { print -l -- "${(@P)3}"; }
          source ./script; PATH=/usr/bin:/bin; HOME=$PWD
          words=(\\~/tools/quake-query \(line)); CURRENT=$#words; _quake-query'
        """, folder: folder.path)
      #expect(outcome.output.contains(expected) && outcome.errors.isEmpty, "\(outcome)")
    }
  }

  @Test func shellsReadTheScripts() throws {
    for (tool, shell) in Self.tools.flatMap({ tool in ["bash", "zsh", "fish"].map { (tool, $0) } })
    {
      try Tools.shell(
        """
        \(tool) --completions \(shell) > script
        if command -v \(shell) >/dev/null; then HOME=. \(shell) -n script; fi
        """, folder: folder.path
      ).expect(0, errors: "", with: shell)
    }
  }

  private static let hasMandoc =
    access("/usr/bin/mandoc", X_OK) == 0 || access("/usr/local/bin/mandoc", X_OK) == 0

  @Test(.enabled(if: hasMandoc, "mandoc is not installed"))
  func manualPagesAreClean() throws {
    for tool in Self.tools {
      let outcome = try Tools.shell(
        "\(tool) --man > page.1; mandoc -Tlint page.1 || true", folder: folder.path)
      #expect(outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome.output)")
    }
  }
}
