import Foundation

/// A mosquitto on a port of 127.0.0.1 that stays its own while it is restarted. It keeps retained messages.
package final class Broker {
  private static let program = "/usr/sbin/mosquitto"
  package static let isInstalled =
    FileManager.default.isExecutableFile(atPath: program)
    && FileManager.default.isExecutableFile(atPath: "/usr/bin/mosquitto_sub")
  package static let isMissing = "needs Debian's packages mosquitto and mosquitto-clients"

  package let folder: TemporaryFolder
  package let port: Int
  private let reserved: Int32
  private let configuration: String
  private var process: ToolProcess?

  /// - Parameter options: Lines of mosquitto.conf; `FOLDER` is its folder.
  package init(_ options: [String] = ["allow_anonymous true"], in folder: TemporaryFolder? = nil)
    throws
  {
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    (reserved, port) = try LocalSocket.bind(reuses: true)
    var lines = ["listener \(port) 127.0.0.1", "persistence true", "log_dest stderr"]
    lines.append("persistence_location \(folder.path)/")
    // Otherwise it becomes a user that cannot read the test's files.
    if getuid() == 0 { lines.append("user root") }
    lines += options.map { $0.replacing("FOLDER", with: folder.path) }
    configuration = try folder.write("mosquitto.conf", lines.joined(separator: "\n") + "\n")
    try start()
  }

  deinit { close(reserved) }

  package func start() throws {
    process = try ToolProcess(Self.program, ["-c", configuration], environment: [:])
    try process?.waitForError("running")
  }

  /// Stops it, and keeps what it has retained.
  package func stop() throws {
    process?.signal(SIGTERM)
    _ = try process?.exit()
    process = nil
  }

  /// Holds back all answers until `resume`.
  package func pause() throws { try process?.stop() }
  package func resume() { process?.signal(SIGCONT) }

  /// A client of mosquitto's own, which has subscribed when this returns. It writes a line for each message: 1 for a
  /// retained one, else 0; the topic; the payload.
  package func subscriber(to topics: String..., options: [String] = []) throws -> ToolProcess {
    // It would write "Subscribed" into a pipe together with the first message.
    let client = try ToolProcess(
      "/usr/bin/stdbuf",
      [
        "-oL", "/usr/bin/mosquitto_sub", "-h", "127.0.0.1", "-p", "\(port)", "-q", "1", "-d", "-F",
        "%r %t %p",
      ]
        + topics.flatMap { ["-t", $0] } + options, environment: [:])
    while try !client.line().hasPrefix("Subscribed") {}
    return client
  }

  /// The next message for a subscriber, beside what it writes about the protocol.
  package static func message(of client: ToolProcess) throws -> String {
    while true {
      let line = try client.line()
      if !line.hasPrefix("Client ") && !line.hasPrefix("Subscribed") { return line }
    }
  }

  /// The retained messages of all topics of earthquakes, in the order of the topics.
  package func retained(_ topics: String = "#") throws -> [String] {
    let marker = "end/\(UInt32.random(in: 0 ... .max))"
    let client = try subscriber(to: topics, marker)
    try publish(marker)
    var messages: [String] = []
    while true {
      let message = try Self.message(of: client)
      if message == "0 \(marker) end" { return messages.sorted() }
      if message.hasPrefix("1 ") { messages.append(String(message.dropFirst(2))) }
    }
  }

  private func publish(_ topic: String) throws {
    let client = try ToolProcess(
      "/usr/bin/mosquitto_pub",
      ["-h", "127.0.0.1", "-p", "\(port)", "-q", "1", "-t", topic, "-m", "end"], environment: [:])
    _ = try client.exit()
  }
}
