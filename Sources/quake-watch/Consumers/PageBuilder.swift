import CommandLine
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

/// Collects what a page of the history brings for the consumers that read it.
final class PageBuilder {
  private(set) var page = ConsumerStore.Page()
  /// The consumers that owe `page.owed`, in the same order.
  private(set) var owners: [Consumer] = []
  /// The consumers with anything to write.
  private(set) var concerned: [ObjectIdentifier: Consumer] = [:]
  /// The message of the present change, which many consumers may owe.
  private var shared: (token: ChangeToken, position: Int64, message: Int)?

  func owe(_ change: Change, _ consumer: Consumer, heldBack: Int) {
    let token = change.transaction.token
    if heldBack == 0, let shared, shared.token == token, shared.position == change.position {
      owe(shared.message, consumer)
      return
    }
    page.messages.append(Message(change, heldBack: heldBack))
    let index = page.messages.count - 1
    if heldBack == 0 { shared = (token, change.position, index) }
    owe(index, consumer)
  }

  func owe(_ alert: Alert, _ consumer: Consumer, heldBack: Int) {
    page.messages.append(Message(alert).adding(heldBack: heldBack))
    owe(page.messages.count - 1, consumer)
  }

  private func owe(_ message: Int, _ consumer: Consumer) {
    page.owed.append((consumer.name, message))
    owners.append(consumer)
    note(consumer)
  }

  func store(_ unstored: ConversationBook.Unstored, of consumer: Consumer) {
    if page.add(unstored, of: consumer.name) { note(consumer) }
  }

  /// Takes note that a consumer has something to write.
  func note(_ consumer: Consumer) { concerned[ObjectIdentifier(consumer)] = consumer }

  /// Adds the cursors and the counts of the consumers with anything to write.
  func finish() {
    for consumer in concerned.values {
      page.cursors.append((consumer.name, consumer.cursor))
      page.heldBack.append((consumer.name, consumer.gate.total))
    }
    // Two processes that write the same rows do so in the same order.
    page.cursors.sort { $0.consumer < $1.consumer }
    page.heldBack.sort { $0.consumer < $1.consumer }
  }

  /// Leaves out consumers that this process has lost.
  func remove(_ names: Set<String>) {
    let kept = page.owed.indices.filter { !names.contains(page.owed[$0].consumer) }
    owners = kept.map { owners[$0] }
    page.owed = kept.map { page.owed[$0] }
    page.conversations.removeAll { names.contains($0.consumer) }
    page.past.removeAll { names.contains($0.consumer) }
    page.cursors.removeAll { names.contains($0.consumer) }
    page.heldBack.removeAll { names.contains($0.consumer) }
    concerned = concerned.filter { !names.contains($0.value.name) }
  }
}

extension Message {
  /// The message that tells of a change.
  ///
  /// - Parameter heldBack: How many messages the limit of the rate held back before it.
  init(_ change: Change, heldBack: Int) {
    let token = change.transaction.token
    let id = "\(token)-\(change.position)"
    let event = change.new ?? change.old
    var values = CommandVariables(change, heldBack: heldBack).values
    values["QUAKE_ID"] = id
    values["QUAKE_AT"] = "\(change.transaction.at)"
    values["QUAKE_LATITUDE"] = event?.latitude.map { "\($0)" }
    values["QUAKE_LONGITUDE"] = event?.longitude.map { "\($0)" }
    values["QUAKE_DEPTH"] = event?.depth.map { "\($0)" }
    values["QUAKE_TEXT"] = Self.text(change)
    var json = JSONWriter()
    json.change(change)
    self.init(
      id: id, kind: .change, subject: change.code ?? "", token: token,
      variables: values.compactMap { name, value in value.map { Variable(name: name, value: $0) } }
        .sorted { $0.name < $1.name },
      data: String(decoding: json.take(), as: UTF8.self))
  }

  /// The line that is printed for it, neither cut nor padded.
  private static func text(_ change: Change) -> String {
    line.line(change).split(separator: " ").joined(separator: " ")
  }

  private static let line = ChangeText(colour: Colour(isEnabled: false), isWhole: true)

  /// The message with the number of those that the limit of the rate held back before it.
  func adding(heldBack: Int) -> Message {
    guard heldBack > 0 else { return self }
    return Message(
      id: id, kind: kind, subject: subject, token: token,
      variables: variables + [Variable(name: "QUAKE_HELD_BACK", value: "\(heldBack)")], data: data)
  }
}
