import Foundation
import TestSupport
import Testing

/// docs/alert-recipes.md and the alert of README.md, with stand-ins for the services that they use.
@Suite final class AlertRecipeTests: ExecSuite {
  private let text: String

  override init() throws {
    text = try contents(of: Tools.package + "/docs/alert-recipes.md")
    try super.init()
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude, depth, latitude, longitude, place, url) values
        ('small', now() - interval '5 min', 4.4, 10, 46, 14, 'Small', null),
        ('us1', now() - interval '5 min', 6.4, 12, 46, 14.25, '<"&>ž $(touch ran)`touch ran`',
         'https://example.org/us1?a=b&c=d');
      """)
  }

  /// The blocks in a language in the part with this title.
  private func blocks(_ title: String, _ language: String) throws -> [String] {
    try #require(text.components(separatedBy: "\n## \(title)\n").dropFirst().first).components(
      separatedBy: "\n## ")[0].components(separatedBy: "```\(language)\n")
      .dropFirst().map { $0.components(separatedBy: "```")[0] }
  }

  /// A program that writes its arguments and its input to the file `sent`.
  private func standIn(_ name: String) throws {
    let path = try folder.write(
      name, "#!/bin/sh\n{ printf '%s\\n' \"$@\"; cat; echo end; } >> '\(file("sent"))'\n")
    try #require(chmod(path, 0o755) == 0)
  }

  /// Checks the consumer of a recipe, then runs it over the whole history, with addresses and files that are here.
  private func run(_ title: String, here: [String: String] = [:]) throws -> ToolProcess {
    try run(section: try #require(blocks(title, "ini").first), here: here)
  }

  private func run(section: String, here: [String: String]) throws -> ToolProcess {
    #expect(section.hasPrefix("[consumer "))
    let local = here.merging(["/etc/quake/": folder.path + "/"]) { $1 }
      .reduce(section) { $0.replacing($1.key, with: $1.value) }
    let file = try folder.write("alerts.conf", local + "from = oldest\n")
    try Tools.run("quake-watch", ["run", "--config", file, "--check"]).expect(
      0, printing: "tells of: earthquakes")
    return try Tools.startShell(
      "PATH='\(folder.path)':$PATH; exec quake-watch run --config '\(file)'",
      environment: ["DATABASE_URL": database.conninfo], folder: folder.path)
  }

  /// The body of the only request that a consumer makes before the earthquake is deleted.
  private func body(
    _ title: String, _ server: ScriptedServer, here: [String: String] = [:]
  ) throws -> (request: ScriptedServer.Request, body: JSONLine) {
    try body(of: run(title, here: here), server)
  }

  private func body(
    of watcher: ToolProcess, _ server: ScriptedServer
  ) throws -> (request: ScriptedServer.Request, body: JSONLine) {
    func waitForRequest(_ count: Int) throws {
      try eventually("request \(count) of the consumer") {
        watcher.takeIn()
        try #require(!watcher.hasEnded, "\(watcher.errorText)")
        return server.requests.count >= count
      }
    }
    try waitForRequest(1)
    try database.psql("delete from quake.quake where code = 'us1';")
    try waitForRequest(2)
    #expect(server.requests.count == 2)
    checkNothingRan()
    return (server.requests[0], try JSONLine(server.requests[0].body))
  }

  private func checkNothingRan() {
    #expect(!FileManager.default.fileExists(atPath: file("ran")), "text of an event was run")
  }

  /// What a stand-in has got, when it has got that many.
  private func sent(_ count: Int, by watcher: ToolProcess) throws -> [String] {
    try eventually("the command has run \(count) times") {
      watcher.takeIn()
      try #require(!watcher.hasEnded, "\(watcher.errorText)")
      return try lines(of: "sent").count { $0 == "end" } >= count
    }
    checkNothingRan()
    return try lines(of: "sent")
  }

  private static let place = "<\"&>ž $(touch ran)`touch ran`"
  private static let url = "https://example.org/us1?a=b&c=d"

  @Test func theRecipeForSlackSendsAMessage() throws {
    let server = try ScriptedServer { _, client in client.answer(200, [], "ok") }
    try folder.write("slack", "http://127.0.0.1:\(server.port)/services/T/B/x\n")
    let (request, message) = try body("Slack", server)
    #expect(request.target == "/services/T/B/x")
    #expect(request.headers["content-type"] == "application/json")
    #expect(message.string("text") == "Earthquake")
    let block = try #require(message.objects("blocks")?.first)
    #expect(block.string("type") == "section" && block["text"]?.string("type") == "plain_text")
    #expect(block["text"]?.string("text")?.contains(Self.place) == true, "\(message.text)")
  }

  @Test func theRecipeForMailSendsAThread() throws {
    try standIn("curl")
    try folder.write("mail", try #require(blocks("Mail", "sh").first))
    let watcher = try run("Mail")
    let mail = try sent(1, by: watcher)
    try database.psql("update quake.quake set magnitude = 7 where code = 'us1';")
    let next = try sent(2, by: watcher).dropFirst(mail.count)
    #expect(mail.contains("smtp://mail.example.org") && mail.contains("To: duty@example.org"))
    #expect(mail.contains("Subject: Earthquake M 6.4"))
    #expect(mail.contains { $0.contains(Self.place) })
    #expect(next.contains("Subject: Earthquake M 7.0"))
    func fields(_ name: String, _ lines: some Sequence<String>) -> [String] {
      lines.filter { $0.hasPrefix(name + ": <") && $0.hasSuffix("@example.org>") }
    }
    #expect(fields("References", mail) == fields("References", next))
    #expect(fields("References", mail).count == 1)
    #expect(Set(fields("Message-ID", mail + next)).count == 2)
  }

  @Test func theRecipeForNtfySendsAMessage() throws {
    let server = try ScriptedServer { _, client in client.answer(200, [], "{}") }
    let (request, message) = try body(
      "ntfy", server, here: ["https://ntfy.sh": "http://127.0.0.1:\(server.port)"])
    #expect(request.target == "/")
    #expect(message.string("topic") == "quakes-3f9c1b7a")
    #expect(message.string("message")?.contains(Self.place) == true)
    #expect(message.string("click") == Self.url)
  }

  @Test func theRecipeForTelegramSendsAMessage() throws {
    let server = try ScriptedServer { _, client in client.answer(200, [], "{}") }
    try folder.write("telegram", "http://127.0.0.1:\(server.port)/bot12:ab/sendMessage\n")
    let (request, message) = try body("Telegram", server)
    #expect(request.target == "/bot12:ab/sendMessage")
    #expect(message.integer("chat_id") == 123_456_789)
    #expect(message.string("text")?.contains(Self.place) == true)
    #expect(message.string("text")?.hasSuffix(" " + Self.url) == true)
  }

  @Test(.enabled(if: Broker.isInstalled, "\(Broker.isMissing)"))
  func theRecipeForMQTTPublishesAMessage() throws {
    let broker = try Broker()
    let client = try broker.subscriber(to: "quake/+")
    let watcher = try run(
      "Home Assistant with MQTT", here: ["mqtt://127.0.0.1": "mqtt://127.0.0.1:\(broker.port)"])
    let line = try Broker.message(of: client).split(separator: " ", maxSplits: 2).map(String.init)
    let message = try JSONLine(try #require(line.last))
    // The members that the automation names.
    #expect(message["event"]?.double("magnitude") == 6.4)
    #expect(message.string("text")?.contains(Self.place) == true)
    let sensor = try #require(try broker.retained("quake/home/newest").first)
    #expect(sensor.contains("\"magnitude\":6.4"))
    #expect(try broker.retained("homeassistant/#").count == 1)
    #expect(!watcher.hasEnded, "\(watcher.errorText)")
  }

  @Test func theRecipeForASirenRunsItsCommand() throws {
    try standIn("aplay")
    // A second one, which is too far away, and a third one, which was too long ago.
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude, latitude, longitude) values
        ('far', now(), 7, 10, 10), ('old', now() - interval '1 hour', 7, 46, 14);
      """)
    // A fourth one, which is delivered twenty minutes after its commit.
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude, latitude, longitude)
      values ('late', now() - interval '20 min', 7, 46, 14);
      update quake.change_transaction set at = at - interval '20 min'
       where token = (select max(token) from quake.change_transaction);
      """)
    try folder.write("siren", try #require(blocks("A siren", "sh").first))
    let watcher = try run("A siren")
    #expect(try sent(1, by: watcher)[..<2] == ["-q", "/etc/quake/siren.wav"])
    // The retraction makes no sound: it is delivered when nothing is owed any more.
    try database.psql("delete from quake.quake where code = 'us1';")
    try eventually("the retraction is delivered") {
      try database.column(
        """
        select id from quake.conversation
         where messages = 2 and not exists (select from quake.delivery)
        """
      ).count == 1
    }
    #expect(try sent(1, by: watcher).count { $0 == "end" } == 1)
  }

  @Test func theAlertOfTheReadmeIsDelivered() throws {
    let readme = try contents(of: Tools.package + "/README.md")
    let rest = try #require(readme.components(separatedBy: "> alerts.conf <<'CONF'\n").last)
    let server = try ScriptedServer { _, client in client.answer(200, [], "") }
    let watcher = try run(
      section: rest.components(separatedBy: "CONF\n")[0],
      here: ["https://desk.example.org": "http://127.0.0.1:\(server.port)"])
    let (_, message) = try body(of: watcher, server)
    #expect(message.string("alert") == "opened" && message.string("code") == "us1")
  }
}
