import Basics
import CommandLine
import Glibc
import Postgres
import QuakeClient
import QuakeConsumers
import QuakeModel
import QuakeSinks
import QuakeTool

/// Hands over the messages of a consumer that a server tells of earthquakes: prints them, or runs a command for each.
///
/// A message is acknowledged when it was handed over, so that what was not comes again with the same id.
final class AlertWatcher {
  private let consumer: ServerConsumer?
  private let diagnostics: Diagnostics
  private let output: StandardOutput
  private let command: (any Sink)?
  private let skipsFailures: Bool
  private let printsJSON: Bool
  private let follows: Bool
  private var remaining: Int
  private var hasBegun = false
  private var isWaiting = false
  private var backoff = Backoff()

  /// - Throws: `UsageError` if options say which changes to deliver, or how.
  init(
    _ server: ServerFollower?, _ arguments: ParsedArguments, _ output: StandardOutput,
    _ diagnostics: Diagnostics
  ) throws {
    let names = (FilterOptions.events + FilterOptions.changes).map(\.name)
    for name in names + [
      "exec-batch", "jobs", "snapshot", "heartbeat", "up-to", "until", "limit-rate",
    ]
    where arguments.isGiven(name) {
      throw arguments.usageError(
        "\(arguments.subject(name)) is for changes, and the server tells this consumer of earthquakes by the conditions that it was made with"
      )
    }
    consumer = arguments.string("name").flatMap { server?.consumer(named: $0) }
    self.output = output
    self.diagnostics = diagnostics
    command = arguments.string("exec").map {
      ExecPlan(ShellCommand(text: $0)).sink(in: CurlLoop())
    }
    skipsFailures = arguments.string("exec-failure") == "skip"
    printsJSON = arguments.flag("json")
    follows = arguments.flag("follow")
    remaining = try arguments.integer("limit", in: 1...) ?? .max
  }

  /// Follows until it is stopped, or the watch is complete.
  func run() throws {
    while let consumer, !Signals.stopRequested {
      do {
        // To open the stream takes the consumer over: not from a client that has taken it meanwhile.
        if hasBegun { try consumer.acknowledge(nil) }
        return try follow(consumer, try consumer.alerts(wake: Signals.wakeDescriptor))
      } catch let error as ServerError where error.kind == .interrupted {
        Signals.drainWake()
      } catch let error as ServerError where error.isTransient {
        // As without conversations: a server that says when to come again is worth waiting for.
        guard hasBegun || follows && error.retryAfter != nil else { throw error }
        if !isWaiting {
          diagnostics.warning(
            error.message, detail: error.detail,
            hint: "Trying again until the connection is restored.")
        }
        isWaiting = true
        _ = Signals.wait(timeout: max(backoff.next(), error.retryAfter ?? .zero))
      }
    }
  }

  private func follow(_ consumer: ServerConsumer, _ stream: ServerAlerts) throws {
    if isWaiting { diagnostics.warning("connected again") }
    (hasBegun, isWaiting) = (true, false)
    while true {
      switch try stream.next() {
      case .heartbeat:
        backoff.reset()
        try output.flush()
        guard follows else { return }
        try consumer.acknowledge(nil)
      case .message(let message):
        try handOver(Self.message(message))
        try consumer.acknowledge(message: message.id)
        remaining -= 1
        guard remaining > 0 else { return }
      }
    }
  }

  private static func message(_ sent: ServerAlerts.Message) -> Message {
    let alert = Alert(
      kind: Message.Kind(rawValue: sent.alert) ?? .updated, conversation: sent.conversation,
      number: sent.number, event: sent.event, told: sent.told.map { Alert.Told($0) },
      token: sent.token, at: sent.at, mergedInto: sent.mergedInto)
    return Message(alert, text: sent.text, data: sent.data)
  }

  private func handOver(_ message: Message) throws {
    guard let command else {
      try output.write((printsJSON ? message.data : message[variable: "QUAKE_TEXT"] ?? "") + "\n")
      return try output.flush()
    }
    let attempt = command.begin([message])
    while true {
      switch attempt.advance() {
      case .delivered: return
      case .ended(let error): throw error
      case .failed(let failure) where skipsFailures: return diagnostics.warning(failure.reason)
      case .failed(let failure):
        throw StoreError(
          .conflict, failure.reason,
          hint: "The next start tries it again. To skip failed commands, use --exec-failure skip.")
      case nil:
        var descriptors = attempt.descriptors
        poll(&descriptors, nfds_t(descriptors.count), attempt.deadline?.pollTimeout ?? -1)
      }
    }
  }
}
