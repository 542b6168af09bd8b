import Glibc

/// A queue of jobs for several threads. The owners of jobs take turns, and expensive jobs leave threads to others.
///
/// `@unchecked Sendable`: `lines` and `isClosed` are only read and written with the mutex held.
final class JobQueue<Job: Sendable>: @unchecked Sendable {
  /// How many jobs are done at once.
  struct Limits {
    var ofOwner = Int.max
    /// Expensive ones, for all owners and for one.
    var expensive = Int.max
    var expensiveOfOwner = Int.max
    /// How many jobs of one owner wait.
    var waitingOfOwner = Int.max
  }

  private struct Line {
    var jobs = FairQueue<Job>()
    /// How many jobs of an owner have been taken and are not done.
    var running: [String: Int] = [:]
    /// How many of all owners.
    var busy = 0

    mutating func end(_ owner: String) {
      busy -= 1
      let left = (running[owner] ?? 1) - 1
      running[owner] = left == 0 ? nil : left
    }
  }

  private typealias Taken = (job: Job, owner: String, isExpensive: Bool)

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  /// The quick jobs and the expensive ones.
  private var lines = (quick: Line(), expensive: Line())
  private var isClosed = false
  /// Whether the next job is an expensive one if none runs, so that neither kind waits for ever.
  private var isTurnOfExpensive = true
  private let limit: Int
  private let limits: Limits

  /// A queue in which at most `limit` jobs wait.
  init(limit: Int, _ limits: Limits = Limits()) {
    self.limit = limit
    self.limits = limits
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// How many jobs wait.
  var count: Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return waiting
  }

  private var waiting: Int { lines.quick.jobs.count + lines.expensive.jobs.count }

  private func waiting(of owner: String) -> Int {
    lines.quick.jobs.count(of: owner) + lines.expensive.jobs.count(of: owner)
  }

  /// Adds a job; false if too many wait, of all owners or of this one, or if the queue is closed.
  ///
  /// - Parameter owner: The client for whom it is done; empty: any client, without a limit of its own.
  func add(_ job: Job, of owner: String = "", isExpensive: Bool = false) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !isClosed, waiting < limit, owner.isEmpty || waiting(of: owner) < limits.waitingOfOwner
    else { return false }
    if isExpensive {
      lines.expensive.jobs.add(job, of: owner)
    } else {
      lines.quick.jobs.add(job, of: owner)
    }
    pthread_cond_signal(changed)
    return true
  }

  /// Waits for a job and does it.
  ///
  /// - Returns: False when the queue is closed and empty.
  func doNext(_ work: (Job) -> Void) -> Bool {
    guard let (job, owner, isExpensive) = wait() else { return false }
    work(job)
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if isExpensive { lines.expensive.end(owner) } else { lines.quick.end(owner) }
    // A job that waited because of a limit may run now.
    if isClosed { pthread_cond_broadcast(changed) } else { pthread_cond_signal(changed) }
    return true
  }

  private func wait() -> Taken? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let taken = take() { return taken }
      if isClosed, waiting == 0 { return nil }
      pthread_cond_wait(changed, mutex)
    }
  }

  private func take() -> Taken? {
    guard lines.expensive.busy == 0 else { return takeQuick() ?? takeExpensive() }
    defer { isTurnOfExpensive.toggle() }
    return isTurnOfExpensive ? takeExpensive() ?? takeQuick() : takeQuick() ?? takeExpensive()
  }

  private func takeQuick() -> Taken? {
    let (quick, expensive) = (lines.quick.running, lines.expensive.running)
    let taken = lines.quick.jobs.take { owner in
      owner.isEmpty
        || quick[owner, default: 0] + expensive[owner, default: 0] < limits.ofOwner
    }
    guard let taken else { return nil }
    lines.quick.busy += 1
    lines.quick.running[taken.owner, default: 0] += 1
    return (taken.element, taken.owner, false)
  }

  private func takeExpensive() -> Taken? {
    guard lines.expensive.busy < limits.expensive else { return nil }
    let (quick, expensive) = (lines.quick.running, lines.expensive.running)
    let taken = lines.expensive.jobs.take { owner in
      owner.isEmpty
        || expensive[owner, default: 0] < limits.expensiveOfOwner
          && quick[owner, default: 0] + expensive[owner, default: 0] < limits.ofOwner
    }
    guard let taken else { return nil }
    lines.expensive.busy += 1
    lines.expensive.running[taken.owner, default: 0] += 1
    return (taken.element, taken.owner, true)
  }

  /// Refuses further jobs; those that wait are still taken.
  func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }
}

/// A queue in which the owners of the elements take turns: one who adds many does not hold up the others.
struct FairQueue<Element> {
  private struct Line {
    var elements: [Element] = []
    /// How many at the beginning have been taken.
    var taken = 0
  }

  private var lines: [String: Line] = [:]
  /// The owners that have elements, in the order of their turns; the first `done` have had theirs.
  private var turns: [String] = []
  private var done = 0
  private(set) var count = 0

  /// How many elements an owner has.
  func count(of owner: String) -> Int { lines[owner].map { $0.elements.count - $0.taken } ?? 0 }

  mutating func add(_ element: Element, of owner: String) {
    count += 1
    if lines[owner] == nil { turns.append(owner) }
    lines[owner, default: Line()].elements.append(element)
  }

  /// Takes the next element of the first owner in the order of turns that may have one now; nil if none may.
  mutating func take(where mayHave: (_ owner: String) -> Bool = { _ in true }) -> (
    element: Element, owner: String
  )? {
    guard let turn = turns[done...].firstIndex(where: mayHave) else { return nil }
    let owner = turns[turn]
    guard var line = lines.removeValue(forKey: owner) else { return nil }
    let element = line.elements[line.taken]
    line.taken += 1
    count -= 1
    if turn == done { done += 1 } else { turns.remove(at: turn) }
    if line.taken < line.elements.count {
      if line.taken == 1024 {
        line.elements.removeFirst(line.taken)
        line.taken = 0
      }
      lines[owner] = line
      turns.append(owner)
    }
    if done == 1024 || done == turns.count {
      turns.removeFirst(done)
      done = 0
    }
    return (element, owner)
  }
}
