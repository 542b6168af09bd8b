import Basics
import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

/// Remembers outside of the database which transactions receivers were told of last. A restore, or a failover that loses
/// transactions, takes the database back, and not this: so it names the lost ones.
final class ConsumerWitness {
  private let name: String
  private let place: WitnessPlace
  private let diagnostics: Diagnostics
  private let delivered = DeliveredTransactions()
  private var keeper: WitnessKeeper?
  /// When the store was created, which tells it from others.
  private var store: Timestamp?
  private(set) var isPending = false
  /// When to write again after a failure.
  private var again = Deadline(after: .zero)
  private var hasFailed = false

  /// - Parameter configuration: The path of the configuration file: each has a witness of its own.
  init(of configuration: String, _ place: WitnessPlace, _ diagnostics: Diagnostics) {
    name = "run \(configuration)"
    self.place = place
    self.diagnostics = diagnostics
  }

  /// Names the transactions that were delivered and are not in the history, in the log and as the last error of the
  /// consumers.
  func check(
    _ consumers: [String], _ consumerStore: ConsumerStore, over connection: Connection
  ) throws {
    if store == nil { try begin(over: connection) }
    // Two histories are the same up to the place where they part.
    func verify(_ token: ChangeToken) throws {
      _ = try HistoryBound.token(token).resolve(over: connection)
    }
    guard try delivered.tokens.last?.isLost(verify) == true else { return }
    let lost = try delivered.lost { try $0.isLost(verify) }
    delivered.replace(with: Array(delivered.tokens.dropLast(lost.count)))
    isPending = true
    let list = lost.map(\.description).joined(separator: ", ")
    let message = """
      the history lacks \(Readable.count(lost.count, "transaction")) of which consumers have delivered messages: \(list)
      """
    diagnostics.error(
      message,
      hints: [
        """
        A restore or a failover has probably lost them. The consumers go on after their cursors in the database: tell \
        the receivers that these messages do not hold.
        """
      ])
    try consumerStore.note(message, of: consumers, over: connection)
  }

  private func begin(over connection: Connection) throws {
    let created = try DurableCursor(name: name).origin(over: connection).store
    store = created
    do throws(WitnessPlace.Unusable) {
      let path: String? =
        switch place {
        case .none: nil
        case .file(let path): path
        case .stateFolder: try WitnessPlace.path(of: name, store: created)
        }
      keeper = path.map { WitnessKeeper(WitnessFile($0, of: name), delivered) }
    } catch {
      report(error.reason)
    }
    if let kept = try keeper?.file.load() { delivered.replace(with: kept.delivered) }
    // A file that cannot be written is an error now, and not after the first message.
    isPending = true
    try write()
  }

  /// Takes note of transactions of which messages were delivered.
  func add(_ tokens: [ChangeToken]) {
    for token in tokens where delivered.insert(token) { isPending = true }
  }

  func writeIfDue() throws {
    if isPending, again.hasPassed, keeper?.isDue != false { try write() }
  }

  func write() throws {
    guard isPending, let keeper, let store else {
      isPending = false
      return
    }
    isPending = false
    let last = delivered.tokens.last ?? .beginning
    keeper.note(HistoryCursor(token: last), of: store)
    do {
      try keeper.writePending()
      hasFailed = false
    } catch let error as FileError {
      if keeper.hasWritten { return retry(after: error) }
      // A folder that was not chosen may be one that this account can only read.
      guard case .stateFolder = place else { throw error }
      report(error.message)
      self.keeper = nil
    }
  }

  /// The disk may be full. Until there is room again, nobody waits for the witness.
  private func retry(after error: FileError) {
    isPending = true
    again = Deadline(after: .seconds(1))
    guard !hasFailed else { return }
    hasFailed = true
    diagnostics.warning(
      error.message, hint: "The consumers go on. The witness is written when that is possible.")
  }

  private func report(_ reason: String) {
    diagnostics.note(
      "the consumers have no witness: \(reason)",
      hint: "Name a file with --state, so that they notice what a restored database has lost.")
  }
}
