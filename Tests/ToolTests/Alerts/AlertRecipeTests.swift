import Foundation
import TestSupport
import Testing

/// The alerts of docs/recipes.md, with stand-ins for the services that they use.
@Suite struct AlertRecipeTests {
  private let scene: ExecScene
  private let text: String

  init() throws {
    scene = try ExecScene()
    let document = try String(
      contentsOfFile: Tools.package + "/docs/recipes.md", encoding: .utf8)
    text = try #require(document.components(separatedBy: "\n## Alerts\n").dropFirst().first)
    try scene.database.psql(
      """
      insert into quake.quake (code, time, magnitude, depth, latitude, longitude, place, url) values
        ('old', now() - interval '2 days', 7.5, 10, 46, 14, 'Long ago', null),
        ('small', now() - interval '5 min', 4.4, 10, 46, 14, 'Small', null),
        ('us1', now() - interval '5 min', 6.4, 12, 46, 14.25, '<"&>ž $(touch ran)`touch ran`',
         'https://example.org/us1?a=b&c=d');
      """)
  }

  /// The blocks of commands in the part with this title.
  private func blocks(_ title: String) throws -> [String] {
    let part = try #require(
      "### When\n\(text)".components(separatedBy: "### \(title)\n").dropFirst().first)
    return part.components(separatedBy: "\n### ")[0].components(separatedBy: "```sh\n").dropFirst()
      .map { $0.components(separatedBy: "```")[0] }
  }

  /// A program that writes its arguments and its input to the file `sent`.
  private func standIn(_ name: String) throws {
    let path = try scene.folder.write(
      name, "#!/bin/sh\n{ printf '%s\\n' \"$@\"; cat; } >> '\(scene.file("sent"))'\n")
    try #require(chmod(path, 0o755) == 0)
  }

  /// Runs the watcher of the document over the whole history, with an alert whose addresses lead here.
  private func run(_ alert: String?, _ watcher: String, here: [String: String] = [:]) throws {
    func local(_ text: String) -> String {
      here.reduce(text) { $0.replacing($1.key, with: $1.value) }
    }
    if let alert {
      #expect(alert.hasPrefix("#!/bin/sh\n"))
      try scene.folder.write("alert", local(alert))
    }
    let commands = local(watcher).trimmingCharacters(in: .newlines)
    #expect(commands.contains("quake-watch "))
    let outcome = try Tools.shell(
      "PATH='\(scene.folder.path)':$PATH; \(commands) --from-start --no-follow",
      environment: ["DATABASE_URL": scene.database.conninfo], folder: scene.folder.path)
    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty && outcome.output.isEmpty, "\(outcome.errors)")
    #expect(
      !FileManager.default.fileExists(atPath: scene.file("ran")), "text of an event was run")
  }

  private var watcher: String {
    get throws { try #require(blocks("When").first) }
  }

  private static let line = "<\"&>ž $(touch ran)`touch ran` (us1): depth 12 km"

  @Test func theRecipeForMailSendsOne() throws {
    try standIn("sendmail")
    let alert = try #require(blocks("Mail").first)
    try run(
      alert, watcher,
      here: ["/usr/sbin/sendmail": "sendmail", "duty@example.org": "me@example.org"])
    let mail = try scene.lines(of: "sent")
    #expect(mail[..<3] == ["-t", "To: me@example.org", "Subject: Earthquake M 6.4"])
    #expect(mail.count == 6 && mail[4].contains("M  6.4  \(Self.line)"), "\(mail)")
    #expect(mail[5] == "https://example.org/us1?a=b&c=d")
  }

  @Test func theRecipeForNtfySendsAMessage() throws {
    let server = try ScriptedServer { _, client in client.answer(200, [], "{}") }
    let alert = try #require(blocks("ntfy").first)
    try run(alert, watcher, here: ["https://ntfy.sh": "http://127.0.0.1:\(server.port)"])
    let request = try #require(server.requests.first)
    #expect(server.requests.count == 1 && request.target == "/quakes-3f9c1b7a")
    #expect(request.headers["title"] == "Earthquake M 6.4")
    #expect(request.headers["priority"] == "urgent")
    #expect(request.headers["click"] == "https://example.org/us1?a=b&c=d")
    #expect(request.body.contains(Self.line), "\(request.body)")
  }

  @Test func theRecipeForTelegramSendsAMessage() throws {
    let server = try ScriptedServer { _, client in client.answer(200, [], "{}") }
    try scene.folder.write("telegram-token", "12:ab\n")
    let alert = try #require(blocks("Telegram").first)
    try run(alert, watcher, here: ["https://api.telegram.org": "http://127.0.0.1:\(server.port)"])
    let request = try #require(server.requests.first)
    #expect(server.requests.count == 1 && request.target == "/bot12:ab/sendMessage")
    var form = URLComponents()
    form.percentEncodedQuery = request.body.replacing("+", with: "%20")
    let items = form.queryItems ?? []
    #expect(items.first?.value == "123456789")
    let message = items.last?.value ?? ""
    #expect(
      message.contains(Self.line) && message.hasSuffix(" https://example.org/us1?a=b&c=d"),
      "\(message)")
  }

  @Test func theRecipeForSlackSendsAMessage() throws {
    let server = try ScriptedServer { _, client in client.answer(200, [], "ok") }
    try scene.folder.write("slack", "url = \"http://127.0.0.1:\(server.port)/services/T/B/x\"\n")
    let alert = try #require(blocks("Slack").first)
    try run(alert, watcher)
    let request = try #require(server.requests.first)
    #expect(server.requests.count == 1 && request.target == "/services/T/B/x")
    #expect(request.headers["content-type"] == "application/json")
    let message = try #require(JSONLine(request.body).string("text"))
    #expect(message.contains("&lt;\"&amp;&gt;ž $(touch ran)`touch ran` (us1)"), "\(message)")
    #expect(message.hasSuffix(" https://example.org/us1?a=b&amp;c=d"))
  }

  @Test func theRecipeForMQTTPublishesAMessage() throws {
    try standIn("mosquitto_pub")
    let alert = try #require(blocks("MQTT and Home Assistant").first)
    try run(alert, watcher)
    let sent = try scene.lines(of: "sent")
    #expect(sent.dropLast() == ["-h", "127.0.0.1", "-q", "1", "-t", "quakes/alert", "-s"])
    let change = try JSONLine(sent.last ?? "")
    // The members that the templates of Home Assistant name.
    #expect(change["new"]?.double("magnitude") == 6.4)
    #expect(change["new"]?.string("place")?.hasPrefix("<\"&>ž") == true)
  }

  @Test func theRecipeForASirenRunsItsCommand() throws {
    try standIn("aplay")
    let siren = try #require(blocks("A siren on M6+").first)
    // A second one, which is too far away.
    try scene.insert("far")
    try run(nil, siren)
    #expect(try scene.lines(of: "sent")[..<2] == ["-q", "siren.wav"])
    #expect(try scene.lines(of: "sent").count == 3, "once, and with the change as input")
  }

  /// Each recipe has a test here.
  @Test func allRecipesAreTested() {
    let titles = text.components(separatedBy: "\n### ").dropFirst().map {
      $0.components(separatedBy: "\n")[0]
    }
    #expect(
      titles == ["Mail", "ntfy", "Telegram", "Slack", "MQTT and Home Assistant", "A siren on M6+"])
  }
}
