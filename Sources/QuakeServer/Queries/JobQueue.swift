import Glibc

/// A queue of jobs for several threads. The owners of jobs take turns.
///
/// `@unchecked Sendable`: `jobs`, `running` and `isClosed` are only read and written with the mutex held.
final class JobQueue<Job: Sendable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var jobs = FairQueue<Job>()
  /// How many jobs of an owner have been taken and are not done.
  private var running: [String: Int] = [:]
  private var isClosed = false
  private let limit: Int
  private let mostOfOwner: Int

  /// A queue in which at most `limit` jobs wait.
  ///
  /// - Parameter mostOfOwner: How many jobs of one owner are done at once.
  init(limit: Int, mostOfOwner: Int = .max) {
    self.limit = limit
    self.mostOfOwner = mostOfOwner
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
    return jobs.count
  }

  /// Adds a job; false if too many wait, or the queue is closed.
  ///
  /// - Parameter owner: The client for whom it is done; empty: any client, without a limit of its own.
  func add(_ job: Job, of owner: String = "") -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !isClosed, jobs.count < limit else { return false }
    jobs.add(job, of: owner)
    pthread_cond_signal(changed)
    return true
  }

  /// Waits for a job and does it.
  ///
  /// - Returns: False when the queue is closed and empty.
  func doNext(_ work: (Job) -> Void) -> Bool {
    guard let (job, owner) = take() else { return false }
    work(job)
    guard mostOfOwner < .max else { return true }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let left = (running[owner] ?? 1) - 1
    running[owner] = left == 0 ? nil : left
    // A job that waited because of its owner's limit may run now.
    if isClosed { pthread_cond_broadcast(changed) } else { pthread_cond_signal(changed) }
    return true
  }

  private func take() -> (Job, String)? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      let taken = jobs.take { $0.isEmpty || running[$0, default: 0] < mostOfOwner }
      if let (job, owner) = taken {
        if mostOfOwner < .max { running[owner, default: 0] += 1 }
        return (job, owner)
      }
      if isClosed, jobs.count == 0 { return nil }
      pthread_cond_wait(changed, mutex)
    }
  }

  /// Refuses further jobs; those that wait are still taken.
  func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }
}
