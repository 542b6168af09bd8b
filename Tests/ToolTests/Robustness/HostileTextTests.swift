import Foundation
import TestSupport
import Testing

/// Texts of feeds, writers and the server, in everything that a tool prints.
@Suite final class HostileTextTests: ToolSuite {
  /// Breaks the line, clears the screen in two ways, reverses the text, and has invisible
  /// characters.
  private static let hostile =
    "a\nb\u{1B}[2J\u{9B}2J\u{7F}\u{202E}evil\u{2066}\u{200B}\u{FEFF}\u{2028}\u{E0041}\u{F8FF}é"

  /// Whether a text has only printable characters and line breaks.
  private func isHarmless(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control: scalar == "\n"
      case .format, .privateUse, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
  }

  private func quoted(_ text: String) -> String { "$q$\(text)$q$" }

  private func fill() throws {
    let hostile = quoted(Self.hostile)
    try database.psql(
      """
      set application_name = 'evil';
      set quake.author = \(hostile); set quake.context = \(hostile);
      insert into quake.quake (code, net, source, type, place, title, url, time)
        values (\(hostile), \(hostile), \(hostile), \(hostile), \(hostile), \(hostile), \(hostile),
                now());
      update quake.quake set place = place || 'x', title = title || 'y';
      insert into quake.watcher (name, token) values (\(hostile), 0);
      insert into quake.feed (name, url, every, next_due, polled_at, error)
        values (\(hostile), 'http://127.0.0.1/', '1 min', now(), now(), \(hostile));
      """)
  }

  @Test func noOutputControlsTheTerminal() throws {
    try fill()
    let commands: [[String]] = [
      ["quake-watch", "--from-start", "--no-follow"],
      ["quake-watch", "--snapshot", "--no-follow"],
      ["quake-watch", "--from-start", "--no-follow", "--exec", "exit 1"],
      ["quake-watch", "--from-start", "--no-follow", "--exec", "exit 1", "--log-format", "json"],
      ["quake-watch", "--no-follow", "--state", folder.path + "/" + Self.hostile + "/no"],
      ["quake-query", "list"], ["quake-query", "history"], ["quake-query", "history", "--codes"],
      ["quake-query", "history", "--transactions"], ["quake-query", "diff", "0"],
      ["quake-query", "versions", Self.hostile], ["quake-query", "show", Self.hostile],
      ["quake-query", "show", Self.hostile + "?"], ["quake-query", Self.hostile],
      ["quake-admin", "status"], ["quake-admin", "status", "--prometheus"],
      ["quake-admin", "status", "--feed", Self.hostile + "?", "--log-format", "json"],
      ["quake-admin", "watchers"],
      ["quake-admin", "watchers", "remove", Self.hostile + "?", "--yes"],
      ["quake-admin", "history", "purge", "--up-to", "1s", "--dry-run"],
      ["quake-admin", "refresh", Self.hostile, "--timeout", "1ms"],
      ["quake-ingest", "import", folder.path + "/" + Self.hostile],
      ["quake-ingest", "import", folder.path + "/" + Self.hostile, "--log-format", "json"],
    ]
    for command in commands {
      let outcome = try Tools.run(command[0], Array(command.dropFirst()) + database.option)
      #expect(outcome.status >= 0, "\(command)")
      #expect(!(outcome.output + outcome.errors).isEmpty, "\(command)")
      #expect(isHarmless(outcome.output), "\(command): \(outcome.output.debugDescription)")
      #expect(isHarmless(outcome.errors), "\(command): \(outcome.errors.debugDescription)")
    }
  }

  @Test func jsonPreservesTheText() throws {
    try fill()
    for command in [
      ["quake-watch", "--from-start", "--no-follow", "--json"],
      ["quake-query", "history", "--json"], ["quake-query", "list", "--json"],
    ] {
      let outcome = try Tools.run(command[0], Array(command.dropFirst()) + database.option).expect(
        0, with: command)
      #expect(isHarmless(outcome.output), "\(command)")
      let line = try JSONLine(try #require(outcome.lines.first))
      #expect(line.string("code") == Self.hostile, "\(command)")
      if let new = line["new"] { #expect(new.string("place") == Self.hostile) }
      if let transaction = line["transaction"] {
        #expect(transaction.string("author") == Self.hostile)
      }
    }
    let status = try database.run("quake-admin", ["status", "--json"])
    #expect(isHarmless(status.output))
    let feed = try #require(try JSONLine(status.lines[0]).objects("feeds")?.first)
    #expect(feed.string("name") == Self.hostile && feed.string("error") == Self.hostile)
  }
}
