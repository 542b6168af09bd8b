import Basics
import CLinux
import Glibc
import QuakeConsumers
import QuakeSinks

/// Delivers what the consumers owe, on a thread of its own: begins attempts, waits for them, and reports how they end.
///
/// It has no access to the database. A message stays owed until the main thread has recorded the outcome.
final class Sender {
  private let commands: Mailbox<SenderCommand>
  private let reports: Mailbox<SenderReport>
  private let loop = CurlLoop()
  private var consumers: [ConsumerKey: SendingConsumer] = [:]
  private var pending: [SenderReport] = []
  /// How many bytes of messages wait here. What exceeds the limit is read from the database when its turn comes.
  private var kept = 0
  private static let mostKept = 16 << 20
  /// Until when attempts under way are waited for; nil: the sender goes on.
  private var end: Deadline?
  private static let patience = Duration.seconds(5)

  private init(_ commands: Mailbox<SenderCommand>, _ reports: Mailbox<SenderReport>) {
    self.commands = commands
    self.reports = reports
  }

  static func start(
    commands: Mailbox<SenderCommand>, reports: Mailbox<SenderReport>
  ) throws {
    try DetachedThread.start { Sender(commands, reports).run() }
  }

  private func run() {
    while true {
      for command in commands.take() { obey(command) }
      loop.run()
      var isWaiting = false
      var deadline: Deadline?
      var descriptors: [pollfd] = []
      let isCut = end?.hasPassed == true
      for consumer in consumers.values {
        if isCut { consumer.cancel() }
        kept -= consumer.advance(end == nil, &pending)
        isWaiting = isWaiting || consumer.hasAttempts
        consumer.addWaits(to: &descriptors, &deadline, begins: end == nil)
      }
      reports.post(pending)
      pending.removeAll()
      if let end {
        guard isWaiting else { break }
        deadline = min(deadline ?? end, end)
      }
      wait(for: descriptors, until: deadline)
    }
    for consumer in consumers.values { consumer.end() }
    reports.post(.stopped)
  }

  private func wait(for descriptors: [pollfd], until deadline: Deadline?) {
    let mine = pollfd(fd: commands.descriptor, events: Int16(POLLIN), revents: 0)
    loop.wait(milliseconds: deadline?.pollTimeout ?? -1, beside: descriptors + [mine])
  }

  private func obey(_ command: SenderCommand) {
    let now = MonotonicClock.now()
    switch command {
    case .add(let key, let plan, let settings, let isPaused):
      let consumer = SendingConsumer(key, plan.sink(in: loop), settings)
      consumer.queue.setPaused(isPaused, at: now)
      consumers[key] = consumer
    case .change(let key, let plan, let settings):
      if let plan { consumers[key]?.replaceSink(by: plan.sink(in: loop)) }
      consumers[key]?.queue.settings = settings
    case .owe(let key, let owed, let messages):
      guard let consumer = consumers[key] else { return }
      consumer.queue.add(owed, at: now)
      for (number, message) in messages where kept < Self.mostKept {
        kept += consumer.keep(message, as: number)
      }
    case .replace(let key, let owed):
      guard let consumer = consumers[key] else { return }
      let before = consumer.keptBytes
      consumer.replaceOwed(with: owed, at: now)
      kept -= before - consumer.keptBytes
    case .contents(let key, let attempt, let messages):
      guard end == nil else { return }
      consumers[key]?.start(attempt, with: messages)
    case .recorded(let key, let attempt): consumers[key]?.recorded(attempt, at: now)
    case .pause(let key, let isPaused): consumers[key]?.queue.setPaused(isPaused, at: now)
    case .end(let key):
      guard let consumer = consumers.removeValue(forKey: key) else { return }
      kept -= consumer.keptBytes
      consumer.cancel()
      consumer.end()
    case .stop: end = Deadline(after: Self.patience)
    }
  }
}

/// A consumer as the sender knows it: a number that no other one ever has.
typealias ConsumerKey = Int

/// What the main thread tells the sender.
enum SenderCommand: Sendable {
  case add(ConsumerKey, any SinkPlan, DeliveryQueue.Settings, isPaused: Bool)
  /// Replaces a consumer's sink, if one is given, and its limits. Attempts under way go on.
  case change(ConsumerKey, (any SinkPlan)?, DeliveryQueue.Settings)
  /// Messages were made. They are in the database.
  case owe(ConsumerKey, [ConsumerStore.Owed], [Int64: Message])
  /// What is owed, as the database has it now.
  case replace(ConsumerKey, [ConsumerStore.Owed])
  /// The contents of messages that the sender asked for; those without were discarded.
  case contents(ConsumerKey, attempt: Int, [Int64: Message])
  /// The decisions about an attempt are in the database.
  case recorded(ConsumerKey, attempt: Int)
  case pause(ConsumerKey, Bool)
  /// Ends a consumer, and cancels its attempts.
  case end(ConsumerKey)
  /// Begins nothing more, waits a little for the attempts under way, and ends.
  case stop
}

/// What the sender tells the main thread.
enum SenderReport: Sendable {
  /// An attempt has ended.
  case ended(
    ConsumerKey, attempt: Int, [(number: Int64, decision: DeliveryQueue.Decision)],
    reason: String?)
  /// The sender needs the contents of messages.
  case needs(ConsumerKey, attempt: Int, [Int64])
  /// The receiver is gone for ever.
  case gone(ConsumerKey, any Error)
  /// No attempt is under way, and no more will begin.
  case stopped
}

/// One descriptor that is readable while one of several is.
final class AnyDescriptor {
  let descriptor: Int32

  init(_ descriptors: [Int32]) throws {
    descriptor = quake_epoll_create()
    guard descriptor >= 0 else { throw DescriptorFailure() }
    for one in descriptors where quake_epoll_add_wake(descriptor, one, 0) != 0 {
      throw DescriptorFailure()
    }
  }

  deinit { close(descriptor) }
}
