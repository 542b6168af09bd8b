/// The backlogs that are being read or were read just now, and the clients that wait for them.
///
/// Few are read at once. The addresses of the clients take turns, and a backlog for which no client waits any longer
/// is not read: clients that come and go do not hold up the others.
struct BacklogTable {
  /// A client by its slot. The slot may have another client when the backlog has been read.
  struct Waiting {
    var slot: Int
    var generation: UInt32

    func isThere(_ clients: [StreamClient]) -> Bool {
      clients[slot].phase == .waiting && clients[slot].generation == generation
    }
  }

  private struct Entry {
    var waiting: [Waiting] = []
    /// Whether it is in the queue, and under which addresses: the first of their turns starts the read.
    var isDue = false
    var addresses: Set<String> = []
    /// What stops the reading in progress; nil if there is none.
    var isUnwanted: Flag?
    var result: Backlog?
    /// When the result was made, or when to try again.
    var time: Int64 = 0

    var isBusy: Bool { isDue || isUnwanted != nil }
  }

  private var entries: [Backlog.Key: Entry] = [:]
  private var due = FairQueue<Backlog.Key>()
  private var running = 0
  private let read: (Backlog.Key, Flag) -> Void
  /// How many have been read or begun.
  private(set) var started = 0

  /// How long a result is kept for further clients, and how long to wait after a failure; in milliseconds.
  private static let age: Int64 = 5000
  private static let pause: Int64 = 1000
  /// How many are handed to the readers, which keep their connections while they have more.
  private static let mostAtOnce = 2 * BacklogReaders.threads

  /// - Parameter read: Begins to read a backlog, which the flag stops.
  init(_ read: @escaping (Backlog.Key, Flag) -> Void) {
    self.read = read
  }

  var isEmpty: Bool { entries.isEmpty }

  var canBegin: Bool { due.count > 0 && running < Self.mostAtOnce }

  /// The backlog of a key if it was read just now, and the window still has its end. Otherwise the client
  /// waits for it.
  ///
  /// - Parameter address: The client's, which decides when its turn is.
  mutating func take(
    _ key: Backlog.Key, for client: Waiting, of address: String, at now: Int64,
    in window: ChangeWindow?
  ) -> Backlog? {
    if let entry = entries[key], let result = entry.result {
      if now - entry.time < Self.age, let window, window.find(result.end) != .outside {
        return result
      }
      entries[key] = nil
    }
    let isTimed = entries[key].map { $0.time > 0 } ?? false
    entries[key, default: Entry()].waiting.append(client)
    if !isTimed, entries[key]?.isUnwanted == nil {
      entries[key]?.isDue = true
      if entries[key]?.addresses.insert(address).inserted == true { due.add(key, of: address) }
    }
    return nil
  }

  /// Lets a client wait for another try after a pause.
  mutating func wait(_ key: Backlog.Key, for client: Waiting, at now: Int64) {
    if entries[key]?.result != nil { entries[key] = nil }
    entries[key, default: Entry()].waiting.append(client)
    if entries[key]?.isBusy == false { entries[key]?.time = now + Self.pause }
  }

  /// Begins to read the next ones, as many as can be read at once.
  ///
  /// - Parameter isThere: Whether a client still waits.
  mutating func begin(isThere: (Waiting) -> Bool) {
    while running < Self.mostAtOnce, let (key, _) = due.take() {
      guard entries[key]?.isDue == true else { continue }
      let waiting = entries[key]?.waiting.filter(isThere) ?? []
      guard !waiting.isEmpty else {
        entries[key] = nil
        continue
      }
      let isUnwanted = Flag()
      entries[key]?.waiting = waiting
      entries[key]?.isDue = false
      entries[key]?.addresses = []
      entries[key]?.isUnwanted = isUnwanted
      running += 1
      started += 1
      read(key, isUnwanted)
    }
  }

  /// Takes note of a result.
  ///
  /// - Returns: The clients that have waited for it; none after a failure, because they go on waiting.
  mutating func finish(_ key: Backlog.Key, _ outcome: Backlog.Outcome, at now: Int64) -> [Waiting] {
    guard var entry = entries[key], entry.isUnwanted != nil else { return [] }
    running -= 1
    entry.isUnwanted = nil
    defer { entries[key] = entry }
    switch outcome {
    case .done(let backlog):
      defer { entry.waiting = [] }
      entry.result = backlog
      entry.time = now
      return entry.waiting
    case .unavailable:
      entry.time = now + Self.pause
      return []
    }
  }

  /// Forgets old results, tries again what failed, and stops what no client waits for.
  ///
  /// - Parameter isThere: Whether a client still waits.
  mutating func tick(at now: Int64, isThere: (Waiting) -> Bool) {
    for (key, entry) in entries {
      if let isUnwanted = entry.isUnwanted {
        if !entry.waiting.contains(where: isThere) { isUnwanted.set() }
      } else if entry.isDue {
        continue
      } else if entry.result != nil {
        if now - entry.time >= Self.age { entries[key] = nil }
      } else if now >= entry.time {
        let waiting = entry.waiting.filter(isThere)
        guard !waiting.isEmpty else {
          entries[key] = nil
          continue
        }
        entries[key]?.waiting = waiting
        entries[key]?.isDue = true
        entries[key]?.time = 0
        due.add(key, of: "")
      }
    }
    begin(isThere: isThere)
  }

  /// Forgets the results, because they are of another history.
  mutating func forgetResults() {
    for (key, entry) in entries where entry.result != nil { entries[key] = nil }
  }
}
