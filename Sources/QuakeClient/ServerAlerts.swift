internal import Basics
package import QuakeConsumers
internal import QuakeModel

/// The stream of a consumer that a server tells of earthquakes: the messages that were not acknowledged, then each as it
/// is made.
///
/// Not safe for concurrent use.
package final class ServerAlerts {
  /// What a server sends.
  package enum Event {
    case message(Message)
    /// Everything so far has been sent.
    case heartbeat
  }

  private let transfer: Transfer
  private let address: ServerAddress
  private let silence = SilenceLimit()
  private let wake: Int32
  private let reader = JSONReader()
  private var events = EventParser()

  /// Begins the stream, and waits for the head of the answer.
  init(_ url: String, of address: ServerAddress, wake: Int32) throws(ServerError) {
    self.address = address
    self.wake = wake
    transfer = try Transfer(url, of: address, accept: "text/event-stream")
    while !transfer.head.isComplete { try waitForMore() }
    guard transfer.head.status == 200 else {
      throw ServerAnswer.error(
        transfer.head, ServerAnswer.body(of: transfer, wake: wake), from: address)
    }
  }

  /// The next event, after a wait for it.
  ///
  /// - Throws: `ServerError` if the stream has ended or is not one of messages.
  package func next() throws(ServerError) -> Event {
    while true {
      if let event = try events.next() {
        switch event.name {
        case "heartbeat": return .heartbeat
        case "alert": return .message(try message(event))
        default: throw Self.invalid("an event of an unknown kind, \"\(event.name)\"")
        }
      }
      let bytes = transfer.take()
      if bytes.isEmpty { try waitForMore() } else { events.append(bytes) }
    }
  }

  private func waitForMore() throws(ServerError) {
    switch transfer.wait(until: Deadline(after: silence.duration), wake: wake) {
    case .progress: break
    case .woken: throw ServerError(.interrupted, "interrupted")
    case .ended:
      throw transfer.failure
        ?? ServerError(
          .unavailable, "server \"\(address.shown)\" has ended the stream",
          hint: "Check that quake-serve runs there.")
    case .timedOut:
      throw ServerError(
        .silent,
        "server \"\(address.shown)\" has sent nothing for \(silence.duration.components.seconds) s",
        hint: "Check that quake-serve runs there and reaches its database, and the network.")
    }
  }

  private static func invalid(_ what: String) -> ServerError {
    ServerError(
      .badAnswer, "the server sent \(what)",
      hint: "Check that --url names a quake-serve. If it does, use a quake-watch of its version.")
  }

  // MARK: - Messages

  private func message(_ event: ServerSentEvent) throws(ServerError) -> Message {
    do throws(JSONReader.Invalid) {
      let members = try reader.object(event.data)
      guard let message = try Self.message(members, data: event.data), message.id == event.id
      else { throw .init("it lacks a member") }
      return message
    } catch {
      throw Self.invalid("a message that is not valid: \(error.problem)")
    }
  }

  private static func message(
    _ members: JSONMembers, data: [UInt8]
  ) throws(JSONReader.Invalid) -> Message? {
    var texts: [String: String] = [:]
    var token: ChangeToken?
    var number: Int64?
    var event: EventRecord?
    var told: Alert.Told?
    for (key, value) in members {
      switch String(decoding: key, as: UTF8.self) {
      case "event": event = try value.event()
      case "told": told = try value.event().map { Alert.Told($0) }
      case "token": token = try value.token()
      case "number": number = try value.integer()
      case let name where ["alert", "conversation", "merged_into", "text"].contains(name):
        texts[name] = try value.optionalString()
      default: break
      }
    }
    guard let kind = texts["alert"].flatMap({ Message.Kind(rawValue: $0) }), let token, let number,
      let conversation = texts["conversation"], let text = texts["text"]
    else { return nil }
    let alert = Alert(
      kind: kind, conversation: conversation, number: Int(clamping: number), event: event,
      told: told, token: token, at: Timestamp(microseconds: 0), mergedInto: texts["merged_into"])
    return Message(alert, text: text, data: String(decoding: data, as: UTF8.self))
  }
}
