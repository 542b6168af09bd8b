package import Basics
internal import CSimdjson
internal import Simdjson

/// Interprets an answer that is not a stream.
enum ServerAnswer {
  /// The most bytes of an answer that is not a stream.
  private static let mostBytes = 1 << 20
  /// How long such an answer may take after its head.
  private static let patience = Duration.seconds(20)
  /// The most characters of the server's explanation in a message.
  private static let mostWords = 500

  /// The whole body of a short answer, or as much of it as comes in time.
  static func body(of transfer: Transfer, wake: Int32) -> [UInt8] {
    let deadline = Deadline(after: patience)
    var body: [UInt8] = []
    while body.count < mostBytes {
      let outcome = transfer.wait(until: deadline, wake: wake)
      body += transfer.take()
      guard outcome == .progress else { break }
    }
    return body
  }

  /// The error that an answer other than 200 is.
  static func error(_ head: HTTPHeaders, _ body: [UInt8], from address: ServerAddress)
    -> ServerError
  {
    let server = "server \"\(address.shown)\""
    let detail = explanation(body)
    switch head.status {
    case 300..<400:
      // User and password do not belong in a message.
      let location = head.value("location") ?? ""
      let target = location.contains("@") ? "" : String(location.prefix(200))
      return ServerError(
        .wrongAddress, "\(server) redirects to \"\(target)\"",
        hint: "If that is your server, give its address to --url, without the path /v1/changes.")
    case 401, 403, 407:
      return ServerError(
        .refused, "\(server) refuses the request (status \(head.status))", detail: detail,
        hint: "Put a user and a password into --url, or a header into a file for --header-file.")
    case 404, 405, 410:
      return ServerError(
        .wrongAddress, "\(server) has no stream of changes (status \(head.status))",
        detail: detail, hint: "Check that --url names a quake-serve.")
    case 408, 425, 429, 500...:
      return ServerError(
        .unavailable, "\(server) is not available (status \(head.status))", detail: detail,
        hint: "Check that quake-serve runs there.", retryAfter: head.retryAfter)
    default:
      return ServerError(
        .rejected, "\(server) rejects the request (status \(head.status))", detail: detail,
        hint: "If it is of another version than quake-watch, it may not know an option.")
    }
  }

  /// The member `detail` of the server's description of the problem (RFC 9457), if there is one.
  static func explanation(_ body: [UInt8]) -> String? {
    member("detail", of: body).map { text in
      let text = String(text.prefix(mostWords))
      return text.hasSuffix(".") ? text : text + "."
    }
  }

  /// Whether the JSON object that a body is has a member that is true.
  static func isTrue(_ name: String, of body: [UInt8]) -> Bool {
    let parser = JSONParser()
    do throws(InvalidJSON) {
      for member in try parser.object(body) where member.name.elementsEqual(name.utf8) {
        return try member.value.bool()
      }
    } catch {}
    return false
  }

  /// A text in the JSON object that a body is; nil if it is none, or has no such member.
  static func member(_ name: String, of body: [UInt8]) -> String? {
    let parser = JSONParser()
    do throws(InvalidJSON) {
      var found: String?
      for member in try parser.object(body) where member.name.elementsEqual(name.utf8) {
        found = try member.value.optionalString()
      }
      return found
    } catch {
      return nil
    }
  }
}

/// A server of `quake-serve` could not be followed.
package struct ServerError: ExplainedError, Sendable {
  package enum Kind: Sendable, Equatable {
    /// libcurl is missing, or too old.
    case noLibrary
    /// The server could not be reached, the connection was lost, or a proxy has no server at the moment.
    case unavailable
    /// The server has sent nothing for too long.
    case silent
    /// The address leads to something other than a `quake-serve`.
    case wrongAddress
    /// The server or a proxy in front of it wants other credentials.
    case refused
    case rejected
    /// The server sent something that is no stream of changes.
    case badAnswer
    case interrupted
  }

  package let kind: Kind
  /// What failed, in a few words, lower case, without a full stop.
  package let message: String
  package let detail: String?
  package let hint: String?
  /// How long the server asks to wait before the next request.
  package let retryAfter: Duration?

  init(
    _ kind: Kind, _ message: String, detail: String? = nil, hint: String? = nil,
    retryAfter: Duration? = nil
  ) {
    self.kind = kind
    self.message = message
    self.detail = detail
    self.hint = hint
    self.retryAfter = retryAfter
  }

  package var isTransient: Bool { kind == .unavailable || kind == .silent }
}

extension ServerError {
  package var category: ErrorCategory {
    switch kind {
    case .noLibrary: .schema
    case .unavailable, .silent: .unavailable
    case .wrongAddress: .usage
    case .refused: .notAllowed
    case .rejected, .badAnswer: .badData
    case .interrupted: .interrupted
    }
  }
}
