import QuakeConsumers
import QuakeSinks

/// A consumer as the sender knows it: a number that no other one ever has.
typealias ConsumerKey = Int

/// What the main thread tells the sender.
enum SenderCommand: Sendable {
  /// Begins a consumer.
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
