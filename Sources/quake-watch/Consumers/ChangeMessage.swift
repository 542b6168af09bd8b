import CommandLine
import QuakeConsumers
import QuakeModel
import QuakeTool

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
