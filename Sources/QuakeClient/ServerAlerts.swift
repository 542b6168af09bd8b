internal import Basics
internal import CSimdjson
package import QuakeModel
internal import Simdjson

/// The stream of a consumer that a server tells of earthquakes: the messages that were not acknowledged, then each as it
/// is made.
///
/// Not safe for concurrent use.
package final class ServerAlerts {
  package struct Message {
    package let id: String
    /// `opened`, `updated`, `retracted` or `closed`.
    package let alert: String
    package let conversation: String
    package let number: Int
    package let mergedInto: String?
    package let token: ChangeToken
    /// Its commit time; or when a wait was over.
    package let at: Timestamp
    /// One sentence.
    package let text: String
    /// The earthquake as the store shows it; nil if it was deleted.
    package let event: EventRecord?
    /// What was told before.
    package let told: EventRecord?
    /// The JSON that the server has sent.
    package let data: String
  }

  package enum Event {
    case message(Message)
    /// Everything so far has been sent.
    case heartbeat
  }

  private let events: EventTransfer
  private let parser = JSONParser()

  /// Begins the stream, and waits for the head of the answer.
  init(_ url: String, of address: ServerAddress, silence: SilenceLimit, wake: Int32) throws {
    events = try EventTransfer(url, of: address, silence: silence, wake: wake)
    guard events.head.status != 410 else {
      throw StoreError(
        .token(.expired),
        "server \"\(address.shown)\" does not hold the history any more that the consumer needs next",
        hint: "\"quake-admin consumers rewind\" moves the consumer to another place.")
    }
    guard events.head.status == 200 else { throw events.refusal }
  }

  /// The next event, after a wait for it.
  ///
  /// - Throws: `ServerError` if the stream has ended or is not one of messages.
  package func next() throws(ServerError) -> Event {
    guard let event = try events.next(waits: true) else { throw events.ended }
    switch event.name {
    case "heartbeat": return .heartbeat
    case "alert": return .message(try message(event))
    default: throw Self.invalid("an event of an unknown kind, \"\(event.name)\"")
    }
  }

  private static func invalid(_ what: String) -> ServerError {
    ServerError(
      .badAnswer, "the server sent \(what)",
      hint: "Check that --url names a quake-serve. If it does, use a quake-watch of its version.")
  }

  // MARK: - Messages

  private func message(_ event: ServerSentEvent) throws(ServerError) -> Message {
    do throws(InvalidJSON) {
      guard let id = event.id, let message = try message(id, event.data) else {
        throw .init("it lacks a member")
      }
      return message
    } catch {
      throw Self.invalid("a message that is not valid: \(error.problem)")
    }
  }

  private func message(_ id: String, _ data: [UInt8]) throws(InvalidJSON) -> Message? {
    var texts: [String: String] = [:]
    var token: ChangeToken?
    var at: Timestamp?
    var number: Int64?
    var event: EventRecord?
    var told: EventRecord?
    for member in try parser.object(data) {
      let value = member.value
      switch String(decoding: member.name, as: UTF8.self) {
      case "event": event = try value.event()
      case "told": told = try value.event()
      case "token": token = try value.token()
      case "at": at = try value.timestamp()
      case "number": number = try value.integer()
      case let name where ["alert", "conversation", "merged_into", "text"].contains(name):
        texts[name] = try value.optionalString()
      default: break
      }
    }
    guard let alert = texts["alert"], let conversation = texts["conversation"],
      let text = texts["text"], let token, let at, let number
    else { return nil }
    return Message(
      id: id, alert: alert, conversation: conversation, number: Int(clamping: number),
      mergedInto: texts["merged_into"], token: token, at: at, text: text, event: event, told: told,
      data: String(decoding: data, as: UTF8.self))
  }
}
