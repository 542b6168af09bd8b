/// How soon a reader asks the server for what is new.
///
/// Where many watch, each commit wakes all of them, and all ask at once. If that is more than the
/// server can do, everybody falls further and further behind, and the writers with them. So a reader
/// to whom the bell mostly brings changes late gives up the bell, which costs the server as much as a
/// page does, and asks at intervals for as long as changes keep coming. The interval grows while answers
/// are late, and shrinks while they are not, until the bell is worth a try again.
///
/// Each decides for itself, by the age of what it gets: enough of them leave for the rest to be served
/// in time.
struct PollThrottle {
  /// Whether to do without the bell.
  private(set) var isCrowded = false
  /// For how long to leave the server alone now.
  private(set) var rest = Duration.zero

  private var quickest: Duration?
  private var lateBells = 0
  private var interval = Duration.zero
  private var emptyAnswers = 0

  /// More than 200 on two processors have to wait, so that these can keep the bell.
  private static let lateBell = Duration.milliseconds(40)
  /// A late one counts two, one in time takes one off: a moment in which the machine had something else
  /// to do is no crowd.
  private static let lateBellsOfCrowd = 4
  private static let firstInterval = Duration.milliseconds(150)
  private static let shortestInterval = Duration.milliseconds(20)
  private static let longestInterval = Duration.milliseconds(200)
  private static let lateAnswer = Duration.milliseconds(15)
  private static let emptyAnswersOfQuiet = 4

  /// Takes in an answer.
  ///
  /// - Parameters:
  ///   - time: How long it took. What counts is how much longer that is than it can be, which leaves
  ///     out the way there and back.
  ///   - isEmpty: Whether there was nothing new.
  ///   - age: How old the oldest change in it was, if the reader had read all there was before.
  mutating func add(answerAfter time: Duration, isEmpty: Bool, age: Duration?) {
    let quickest = min(quickest ?? time, time)
    self.quickest = quickest
    if isCrowded {
      addInCrowd(delay: time - quickest, isEmpty: isEmpty)
    } else if let age {
      // The bell and the question have a way to go, which no crowd is to blame for.
      lateBells = age - quickest >= Self.lateBell ? lateBells + 2 : max(0, lateBells - 1)
      guard lateBells >= Self.lateBellsOfCrowd else { return }
      isCrowded = true
      interval = Self.firstInterval
      emptyAnswers = 0
      scatter()
    }
  }

  private mutating func addInCrowd(delay: Duration, isEmpty: Bool) {
    emptyAnswers = max(0, emptyAnswers + (isEmpty ? 1 : -1))
    interval =
      delay >= Self.lateAnswer
      ? min(interval * 5 / 4, Self.longestInterval) : interval * 49 / 50
    if emptyAnswers == Self.emptyAnswersOfQuiet || interval < Self.shortestInterval {
      isCrowded = false
      lateBells = 0
      rest = .zero
    } else {
      scatter()
    }
  }

  /// What began at the same moment must not go on in step.
  private mutating func scatter() {
    rest = interval * Int.random(in: 85...115) / 100
  }
}
