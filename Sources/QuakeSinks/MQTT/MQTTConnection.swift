internal import Basics
internal import CLibcurl

/// A connection to an MQTT broker, from the beginning to its end; another one follows with a new object.
///
/// All calls are made on one thread, and none waits. Resolving a name and connecting wait, so a thread of the
/// connection's own does that, which ends with it.
// The connecting thread has the object alone until it raises `connected`; afterwards the owner's thread.
final class MQTTConnection: @unchecked Sendable {
  /// After how many seconds of silence the client proves that it is alive. After half as many more, the broker ends the
  /// connection.
  static let keepalive = 60

  /// Why a connection has ended, or why a message was not taken.
  struct Failure: Error, Hashable, Sendable {
    /// A phrase, such as "Connection refused".
    let reason: String
    /// Whether the same message would fail again.
    var isFinal = false
    /// Whether the broker does not know MQTT 5.
    var needsOlderVersion = false
  }

  enum State: Hashable, Sendable {
    case connecting
    /// The broker has accepted it.
    case open
    case ended(Failure)
  }

  struct Publication: Hashable, Sendable {
    var topic: String
    /// Empty and retained: the broker forgets the retained message of the topic.
    var payload: [UInt8]
    /// 0: sent; 1: the broker has it; 2: it has it once.
    var quality = 1
    var isRetained = false
    var contentType: String?
  }

  private(set) var state = State.connecting
  /// The message that the broker retains for Home Assistant's sensor.
  private(set) var received: String?
  private let plan: MQTTPlan
  /// Whether to speak MQTT 3.1.1, in which a broker cannot reject a message.
  private let isOld: Bool
  private var client: OpaquePointer?
  /// Raised when the thread that connects has ended.
  private let connected: WakeEvent
  private var isConnecting = true
  private var connectFailure: String?
  /// What libmosquitto said about the first error: the cause of a failed TLS handshake.
  private var explanation: String?
  private var isPublishing = false
  private var awaited: Set<Int32> = []
  private var outcomes: [Int32: Failure?] = [:]

  init(_ plan: MQTTPlan, isOld: Bool) throws(LibraryProblem) {
    try Mosquitto.load()
    self.plan = plan
    self.isOld = isOld
    do throws(DescriptorFailure) { connected = try WakeEvent() } catch { throw Mosquitto.noMemory }
    var callbacks = Self.callbacks
    client = quake_mosquitto_begin(
      plan.client, isOld, Unmanaged.passUnretained(self).toOpaque(), &callbacks)
    guard let client else { throw Mosquitto.noMemory }
    if let credentials = plan.credentials {
      quake_mosquitto_set_user(client, credentials.user, credentials.password)
    }
    if plan.address.usesTLS {
      let code = quake_mosquitto_set_tls(client, plan.certificateAuthorityFile)
      if code != 0 {
        let file = plan.certificateAuthorityFile ?? "of the system"
        end(Failure(reason: "could not read the certificate authorities \(file)"))
        return
      }
    }
    do throws(ThreadError) {
      try DetachedThread.start { [self] in connect() }
    } catch {
      end(Failure(reason: error.message))
    }
  }

  deinit { if let client { quake_mosquitto_end(client) } }

  /// On the thread that connects, which keeps the object alive.
  private func connect() {
    var reason: UnsafePointer<CChar>?
    let code = quake_mosquitto_connect(
      client, plan.address.host, Int32(plan.address.port), Int32(Self.keepalive), &reason)
    if code != 0 { connectFailure = reason.map { String(cString: $0) } ?? "unknown error" }
    connected.raise()
  }

  // MARK: - The owner's loop

  /// Becomes readable when `advance` has something to do.
  var descriptor: Int32 {
    isConnecting ? connected.descriptor : client.map { quake_mosquitto_socket($0) } ?? -1
  }

  /// Whether the broker's machine has been reached, so that no thread connects any more.
  var isReached: Bool { !isConnecting }

  /// Whether no message waits for an answer.
  var isIdle: Bool { awaited.isEmpty }

  /// Whether the broker takes no more at present: `advance` tries again.
  var isFull: Bool {
    guard !isConnecting, let client else { return false }
    return quake_mosquitto_wants_write(client)
  }

  /// Reads and writes what is possible without waiting.
  func advance() {
    guard let client else { return }
    if isConnecting {
      guard connected.lower() else { return }
      isConnecting = false
      if let connectFailure { return end(Failure(reason: explanation ?? connectFailure)) }
    }
    let code = quake_mosquitto_run(client)
    if code != 0 {
      let text = String(cString: quake_mosquitto_error_text(code))
      end(Failure(reason: explanation ?? text))
    }
    if case .ended = state { release() }
  }

  /// Sends a message, or keeps it until the broker takes it.
  ///
  /// - Returns: Its number, for `outcome(of:)`.
  func publish(_ publication: Publication) throws(Failure) -> Int32 {
    if case .ended(let failure) = state { throw failure }
    guard let client, state == .open else { throw Failure(reason: "not connected") }
    var number: Int32 = 0
    isPublishing = true
    let code = publication.payload.withUnsafeBytes {
      quake_mosquitto_publish(
        client, &number, publication.topic, $0.baseAddress, Int32(clamping: $0.count),
        Int32(publication.quality), publication.isRetained, publication.contentType)
    }
    isPublishing = false
    guard code == 0 else {
      let text = String(cString: quake_mosquitto_error_text(code))
      throw Failure(reason: text, isFinal: Self.areOfTheMessage.contains(code))
    }
    awaited.insert(number)
    return number
  }

  /// What the broker has said about a message; nil: nothing yet. An answer is given once.
  func outcome(of number: Int32) -> Result<Void, Failure>? {
    if let outcome = outcomes.removeValue(forKey: number) {
      awaited.remove(number)
      return outcome.map { .failure($0) } ?? .success(())
    }
    guard case .ended(let failure) = state else { return nil }
    awaited.remove(number)
    return .failure(failure)
  }

  func hasOutcome(of number: Int32) -> Bool {
    if case .ended = state { return true }
    return outcomes[number] != nil
  }

  /// Nobody will ask for this message any more.
  func forget(_ number: Int32) {
    awaited.remove(number)
    outcomes[number] = nil
  }

  /// Ends the connection, after the messages that the broker has acknowledged.
  func end(_ failure: Failure) {
    if case .ended = state { return }
    state = .ended(failure)
    release()
  }

  /// A thread that still connects has the client; `deinit` ends it.
  private func release() {
    guard !isConnecting, let client else { return }
    self.client = nil
    quake_mosquitto_end(client)
  }

  /// Invalid argument or topic, too long, malformed text, larger than the broker allows.
  private static let areOfTheMessage: Set<Int32> = [3, 9, 18, 25]

  // MARK: - What libmosquitto tells

  private static func connection(_ owner: UnsafeMutableRawPointer?) -> MQTTConnection? {
    owner.map { Unmanaged<MQTTConnection>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func text(_ text: UnsafePointer<CChar>?) -> String {
    text.map { String(cString: $0) } ?? ""
  }

  /// libmosquitto calls them within `advance` and `publish`, and the last one on the thread that connects.
  private static let callbacks = quake_mosquitto_callbacks(
    answered: { owner, reason, text in
      MQTTConnection.connection(owner)?.answered(reason, MQTTConnection.text(text))
    },
    ended: { owner, reason, text in
      MQTTConnection.connection(owner)?.lost(MQTTConnection.text(text))
    },
    acknowledged: { owner, message, reason, text in
      MQTTConnection.connection(owner)?.acknowledged(message, reason, MQTTConnection.text(text))
    },
    received: { owner, payload, count in
      let bytes = UnsafeRawBufferPointer(start: payload, count: payload == nil ? 0 : count)
      MQTTConnection.connection(owner)?.received = String(decoding: bytes, as: UTF8.self)
    },
    explained: { owner, text in
      MQTTConnection.connection(owner)?.explained(MQTTConnection.text(text))
    })

  /// Keeps the first of the lines about an error, such as `Error: host name verification failed.` or
  /// `OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed`, without what only its programmers need.
  private func explained(_ line: String) {
    guard explanation == nil else { return }
    let isOfOpenSSL = line.hasPrefix("OpenSSL Error")
    let colon = isOfOpenSSL ? line.lastIndex(of: ":") : line.firstIndex(of: ":")
    var text = colon.map { line[line.index(after: $0)...] } ?? line[...]
    text = text.drop { $0 == " " }
    if text.last == "." { text.removeLast() }
    explanation = text.isEmpty ? line : String(text)
  }

  private func answered(_ reason: Int32, _ text: String) {
    if reason == 0 {
      state = .open
      if let topic = plan.homeAssistant?.stateTopic, let client {
        quake_mosquitto_follow(client, topic)
      }
    } else {
      // The client cannot be ended within its own callback.
      state = .ended(
        Failure(
          reason: text,
          // "Unsupported protocol version" in MQTT 5, and in the older answer.
          needsOlderVersion: !isOld && (reason == 132 || reason == 1)))
    }
  }

  private func lost(_ reason: String) {
    if case .ended = state { return }
    state = .ended(Failure(reason: explanation ?? reason))
  }

  private func acknowledged(_ message: Int32, _ reason: Int32, _ text: String) {
    guard isPublishing || awaited.contains(message) else { return }
    // "Topic name invalid" and "payload format invalid" are faults of the message. The administrator of the broker can
    // correct the others, such as a missing right.
    let failure = Failure(reason: text, isFinal: reason == 144 || reason == 153)
    outcomes[message] = .some(reason < 128 ? nil : failure)
  }
}

/// libmosquitto, which is loaded when something first needs it.
enum Mosquitto {
  static let noMemory = LibraryProblem(detail: "libmosquitto has no memory.")

  /// Nil if libmosquitto can be used. The initialisation of a Swift global is thread-safe.
  private static let problem: LibraryProblem? = quake_mosquitto_load().map {
    LibraryProblem(
      loader: $0,
      hint: "Install libmosquitto 2: libmosquitto1 on Debian and Ubuntu, mosquitto on Fedora.")
  }

  static func load() throws(LibraryProblem) {
    if let problem { throw problem }
  }
}
