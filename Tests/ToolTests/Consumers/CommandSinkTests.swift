import Basics
import CommandLine
import Foundation
import Glibc
import QuakeConsumers
import QuakeSinks
import TestSupport
import Testing

/// Commands that are run for messages.
@Suite struct CommandSinkTests {
  private func plan(_ command: String, isBatch: Bool = false) -> ExecPlan {
    ExecPlan(ShellCommand(text: command), isBatch: isBatch)
  }

  @Test func aCommandGetsTheValuesAndTheJSON() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/out"
    let plan = plan(
      """
      { cat; printf '%s|%s|%s' "$QUAKE_ID" "$QUAKE_PLACE" "${QUAKE_DEPTH-unset}"; } > '\(file)'
      """)
    let message = try Message.example()
    #expect(try SinkDriver(plan).deliver([message]).isDelivered)
    #expect(try contents(of: file) == "\(message.data)\n\(message.id)|10 km N of Zürich|unset")
  }

  @Test func aBatchIsALineForEachMessage() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/out"
    var plan = plan("{ cat; echo \"$QUAKE_TOKEN ${QUAKE_ID-unset}\"; } > '\(file)'", isBatch: true)
    let messages = try (1...3).map { try Message.example($0) }
    #expect(try SinkDriver(plan).deliver(messages).isDelivered)
    let lines = messages.map(\.data) + ["1042.9f3ac2d1 unset", ""]
    #expect(try contents(of: file) == lines.joined(separator: "\n"))
    plan.form = .text(try MessageTemplate("M {magnitude}"))
    #expect(try SinkDriver(plan).deliver(messages).isDelivered)
    #expect(try contents(of: file).hasPrefix("M 5.2\nM 5.2\nM 5.2\n"))
  }

  @Test func aCommandThatFailsIsToBeRunAgain() throws {
    for (command, reason) in [
      ("exit 3", "exited with status 3"), ("kill -KILL $$", "was ended by signal 9"),
    ] {
      let failure = try SinkDriver(plan(command)).failure([try .example()])
      #expect(failure.reason == "command for message 1042.9f3ac2d1-0-1 \(reason)")
      #expect(!failure.isFinal && failure.retryAfter == nil)
    }
  }

  @Test func aMessageThatIsTooLongForTheSystemStaysSo() throws {
    let long = Message.Variable(
      name: "QUAKE_TEXT", value: String(repeating: "x", count: 200_000))
    let failure = try SinkDriver(plan("true")).failure([try .example(variables: [long])])
    #expect(failure.isFinal)
    #expect(failure.reason.contains("longer than the system allows"))
  }

  @Test(arguments: [
    "trap '' TERM; echo $$ > ID; sleep 1000; cat",
    "sh -c \"trap '' TERM; echo \\$\\$ > ID; sleep 1000; true\" & wait",
  ])
  func aCommandThatDoesNotEndIsEndedWithItsGroup(command: String) throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/id"
    // The input stays open for the second command's last program.
    var plan = plan(command.replacing("ID", with: "'\(file)'"))
    plan.timeout = .milliseconds(500)
    let failure = try SinkDriver(plan).failure([try .example()])
    #expect(
      failure.reason.hasSuffix("did not end within 0.5 s, and was ended"), "\(failure.reason)")
    #expect(!failure.isFinal)
    let id = try contents(of: file).trimmingCharacters(in: .whitespacesAndNewlines)
    try eventually("the program of the group has ended") {
      // An ended program that nobody has waited for has an empty command line.
      let line = try? contents(of: "/proc/\(id)/cmdline")
      return line?.contains("sleep") != true && line?.contains("trap") != true
    }
  }

  @Test func aCancelledCommandEnds() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/id"
    let driver = SinkDriver(plan("echo $$ > '\(file)'; sleep 1000; true"))
    let attempt = driver.sink.begin([try .example()])
    try eventually("the command runs") {
      _ = attempt.advance()
      return (try? contents(of: file))?.hasSuffix("\n") == true
    }
    attempt.cancel()
    let id = try contents(of: file).trimmingCharacters(in: .whitespacesAndNewlines)
    try eventually("the command has been waited for") {
      driver.sink.end()
      return !FileManager.default.fileExists(atPath: "/proc/\(id)")
    }
  }

  @Test func theArgumentsOfACommandAreNotShown() {
    #expect(plan("./alert.sh --token=secret").shown == "exec ./alert.sh …")
    #expect(plan("  ./alert.sh ", isBatch: true).shown == "exec-batch ./alert.sh")
    #expect(plan("TOKEN=secret ./alert.sh").shown == "exec …")
  }
}
