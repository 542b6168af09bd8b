import Foundation
import TestSupport
import Testing

/// Secrets in the addresses of feeds: sent to the server, and seen nowhere else.
@Suite final class FeedSecretTests: ToolSuite {
  private static let secret = "hunter2hunter2"

  private static func server(_ status: Int = 200) throws -> ScriptedServer {
    try ScriptedServer(status, body: Array(Feeds.collection(count: 2).utf8))
  }

  private func url(_ server: ScriptedServer, _ query: String, userInfo: String = "") -> String {
    "http://\(userInfo)127.0.0.1:\(server.port)/all_day.geojson\(query)"
  }

  /// The rows of all tables that may have an address, as text.
  private func stored() throws -> String {
    try database.column(
      """
      select t from (select f::text as t from quake.feed f union all
                     select i::text from quake.import i union all
                     select b::text from quake.backfill b union all
                     select r::text from quake.import_reject r union all
                     select c::text from quake.change_transaction c) x
      """
    ).joined(separator: "\n")
  }

  private func expectNoSecret(_ outcome: ToolProcess.Outcome) throws {
    #expect(!outcome.errors.contains("hunter2"), "\(outcome.errors)")
    #expect(!outcome.lines.joined().contains("hunter2"), "\(outcome.lines)")
    #expect(try !stored().contains("hunter2"))
  }

  private static let queries = [
    ("?token=\(secret)&minmagnitude=2.5", "?token=***&minmagnitude=2.5"),
    ("?\(secret)", "?***"),
  ]

  @Test(arguments: queries)
  func theQueryOfAPolledFeedIsMasked(query: String, shown: String) throws {
    let server = try Self.server()
    let outcome = try database.succeed(
      "quake-ingest",
      [
        "run", "--once", "--verbose", "--log-format", "json",
        "--feed", url(server, query, userInfo: "me:\(Self.secret)@"),
      ])
    #expect(server.requests.map(\.target) == ["/all_day.geojson" + query])
    #expect(server.requests.first?.headers["authorization"]?.hasPrefix("Basic ") == true)
    try expectNoSecret(outcome)
    for column in ["select url from quake.feed", "select source from quake.import"] {
      #expect(try database.value(column) == url(server, shown))
    }
    let status = try database.run("quake-admin", ["status", "--json"])
    try expectNoSecret(status)
  }

  @Test func errorsAndImportsMaskItToo() throws {
    let query = Self.queries[0]
    let bad = try Self.server(404)
    for arguments in [
      ["run", "--once", "--feed"], ["import", "--json"], ["import", "--dry-run"],
    ] {
      for server in [bad, try Self.server()] {
        let outcome = try database.run("quake-ingest", arguments + [url(server, query.0)])
        #expect(outcome.status == (server === bad ? 69 : 0), "\(outcome.errors)")
        try expectNoSecret(outcome)
        let said = outcome.errors + outcome.lines.joined()
        #expect(
          said.contains(url(server, query.1)) || server !== bad && !arguments.contains("--json"),
          "\(said)")
      }
    }
    // An address where none is expected.
    let misplaced = try database.run("quake-ingest", ["run", url(bad, query.0)]).expect(
      64, "unexpected argument 'http://...'")
    try expectNoSecret(misplaced)
    for text in [
      "http:/me:\(Self.secret)@h/x", "ftp://me:\(Self.secret)@h/x",
      "me:\(Self.secret)@h/x.geojson", "http://me:\(Self.secret)/x?a=\(Self.secret)",
    ] {
      let outcome = try database.run("quake-ingest", ["import", text])
      #expect(outcome.status != 0)
      try expectNoSecret(outcome)
    }
  }

  /// Somebody forgets the option in front of the address of the database.
  @Test func aDatabaseWhereAnotherWordBelongsKeepsItsPassword() throws {
    let url = "postgresql://me:\(Self.secret)@db.example.org/quake"
    let pairs = "host=db.example.org password=\(Self.secret) user=me"
    for address in [url, pairs] {
      for (tool, arguments, status) in [
        ("quake-query", [address, "list"], 64),
        ("quake-query", ["list", "--from", address], 64),
        ("quake-query", ["list", "--as-of", address], 64),
        ("quake-watch", ["--up-to", address], 64),
        ("quake-query", ["show", address] + database.option, 1),
        ("quake-admin", ["feeds", "pause", address] + database.option, 64),
      ] as [(String, [String], Int32)] {
        for format in ["text", "json"] {
          let outcome = try Tools.run(tool, arguments + ["--log-format", format])
          #expect(outcome.status == status || outcome.status == 65, "\(arguments): \(outcome)")
          try expectNoSecret(outcome)
        }
      }
    }
  }

  @Test func theNameOfAFeedAndNotItsTokenIdentifiesIt() throws {
    let server = try Self.server()
    try database.run(
      "quake-ingest",
      ["run", "--once", "--feed", url(server, "?token=a"), "--feed", url(server, "?token=b")]
    ).expect(64, "two feeds are called \"all_day\"")
    // A new token does not make a new feed.
    let changed = try ScriptedServer { request, client in
      client.answer(
        request.headers["if-none-match"] == "\"v\"" ? 304 : 200, ["ETag: \"v\""],
        request.headers["if-none-match"] == "\"v\"" ? "" : Feeds.collection(count: 2))
    }
    for token in ["a", "b"] {
      try database.succeed(
        "quake-ingest", ["run", "--once", "--feed", url(changed, "?token=\(token)")])
    }
    #expect(changed.requests.map { $0.headers["if-none-match"] } == [nil, "\"v\""])
  }

  // MARK: Where secrets come from

  @Test func secretsComeFromTheEnvironmentAndFromFiles() throws {
    let file = try folder.write("token", "\(Self.secret)\n")
    let environment = ["TOKEN": Self.secret, "CREDENTIALS_DIRECTORY": folder.path]
    for name in ["${TOKEN}", "${file:\(file)}", "${credential:token}"] {
      let server = try Self.server()
      let expected = "/all_day.geojson?token=\(Self.secret)&limit=5"
      let feed = url(server, "?token=\(name)&limit=5")
      let config = try folder.write("q.conf", "feed = \(feed)\n")
      for arguments in [["run", "--once", "--config", config], ["import", feed]] {
        let outcome = try database.succeed("quake-ingest", arguments, environment: environment)
        #expect(server.requests.last?.target == expected)
        // A reference to a secret causes no warning.
        #expect(!outcome.errors.contains("other users can read it"), "\(outcome.errors)")
        try expectNoSecret(outcome)
        #expect(
          try database.value("select source from quake.import order by id desc limit 1")
            == url(server, "?token=***&limit=5"))
      }
    }
    // In the path of an address, and as the whole address.
    let server = try Self.server()
    let path = "http://127.0.0.1:\(server.port)/${TOKEN}/all_day.geojson"
    let whole = ["ALL": url(server, "?token=\(Self.secret)"), "TOKEN": Self.secret]
    for (feed, shown) in [
      (path, "http://127.0.0.1:\(server.port)/***/all_day.geojson"),
      ("${ALL}", url(server, "?token=***")),
    ] {
      let outcome = try database.succeed("quake-ingest", ["import", feed], environment: whole)
      try expectNoSecret(outcome)
      #expect(
        try database.value("select source from quake.import order by id desc limit 1") == shown)
    }
    #expect(server.requests.map(\.target).first == "/\(Self.secret)/all_day.geojson")
  }

  @Test func aMissingSecretIsAUsageErrorThatNamesIt() throws {
    let empty = try folder.write("empty", "\n")
    let broken = try folder.write("broken", "\(Self.secret)\n\(Self.secret)\n")
    for (name, words) in [
      ("${NOT_SET}", "the environment variable NOT_SET is not set"),
      ("${file:/nowhere/x}", "could not read the file \"/nowhere/x\""),
      ("${file:\(empty)}", "is empty"), ("${file:\(broken)}", "holds a space, a line break"),
      ("${file:\(folder.path)}", "is not a regular file"),
      ("${credential:x}", "CREDENTIALS_DIRECTORY is not set"),
      ("${credential:../x}", "is not the name of a credential"),
      ("${a-b}", "expected ${NAME}"), ("${NOT_SET", "has no \"}\""),
    ] {
      let feed = "http://127.0.0.1:1/all_day.geojson?token=\(name)"
      let outcome = try database.run("quake-ingest", ["import", feed]).expect(
        64, words, "argument: ")
      #expect(!outcome.errors.contains("hunter2"))
    }
    let feed = "http://127.0.0.1:1/all_day.geojson?token=${file:\(broken)}"
    let config = try folder.write("q.conf", "once = yes\nfeed = \(feed)\n")
    for (arguments, place) in [
      (["run", "--once", "--feed", feed], "option --feed"),
      (["run", "--config", config], "q.conf:2: key 'feed'"),
      (["backfill", "--from", "2020-01-01", "--to", "2020-01-02", "--url", feed], "option --url"),
    ] {
      let outcome = try database.run("quake-ingest", arguments).expect(
        64, place + ": ", with: arguments)
      #expect(!outcome.errors.contains("hunter2"))
    }
  }

  // MARK: Other users of the machine

  @Test func theListOfProcessesDoesNotShowThem() throws {
    let asked = Flag()
    let server = try ScriptedServer { _, client in
      asked.raise()
      client.hold()
    }
    let userInfo = url(server, "", userInfo: "me:\(Self.secret)@")
    for (tool, arguments) in [
      (
        "quake-ingest", ["run", "--feed=" + url(server, "?token=\(Self.secret)")] + database.option
      ),
      ("quake-ingest", ["import", userInfo] + database.option),
      ("quake-watch", ["--url", userInfo.replacing("/all_day.geojson", with: "")]),
      ("quake-watch", ["--verbose", "-d", "\(database.conninfo) password=\(Self.secret)"]),
    ] {
      let process = try Tools.start(tool, arguments)
      // It has read its arguments.
      if arguments.contains("-d") {
        try process.waitForError("watching after ")
      } else {
        try asked.wait()
      }
      let line = try contents(of: "/proc/\(process.pid)/cmdline")
      #expect(line.contains(tool) && !line.contains("hunter2"), "\(line)")
      process.signal(SIGTERM)
      _ = try process.exit()
    }
  }

  @Test func aConfigurationFileThatOthersCanReadCausesAWarning() throws {
    let token = "contains a password or a token of a feed (line 2), and other users can read it"
    let password = "contains a password, and other users can read it"
    let feed = "feed = http://127.0.0.1:1/all_day.geojson"
    for (line, permissions, warning) in [
      ("\(feed)?token=\(Self.secret)@5m", 0o644, token),
      ("feed = http://me:\(Self.secret)@127.0.0.1:1/all_day.geojson", 0o604, token),
      ("\(feed)?token=\(Self.secret)", 0o600, nil), ("\(feed)?minmagnitude=5", 0o644, nil),
      ("database = postgresql://me:\(Self.secret)@127.0.0.1:1/quake", 0o604, password),
      ("database = host=127.0.0.1 port=1 password=\(Self.secret)", 0o600, nil),
    ] as [(String, Int, String?)] {
      let file = try folder.write("q.conf", "once = yes\n\(line)\n")
      try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file)
      let more = line.hasPrefix("database") ? [] : database.option
      let outcome = try Tools.run("quake-ingest", ["run", "--config", file] + more).expect(69)
      for each in [token, password] {
        #expect(outcome.errors.contains(each) == (each == warning), "\(line): \(outcome.errors)")
      }
      #expect(!outcome.errors.contains("hunter2"))
    }
  }
}
