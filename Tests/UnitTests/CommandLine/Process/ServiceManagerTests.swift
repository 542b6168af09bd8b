import Basics
import Glibc
import TestSupport
import Testing

@testable import CommandLine

extension TerminalTests {
  /// Receives the messages to systemd on a socket like its own.
  @Suite struct ServiceManagerTests {
    @Test(arguments: [true, false])
    func messagesArrive(isAbstract: Bool) throws {
      let folder = try TemporaryFolder()
      let name = folder.path + "/notify"
      let socket = try NotifySocket(isAbstract ? "@" + name : name)
      let service = ServiceManager(socket: socket.name)
      service.ready("polling\nREADY=0 all_day")
      service.status("all_day: 7 seen")
      service.alive()
      service.stopping()
      #expect(socket.message() == "READY=1\nSTATUS=polling READY=0 all_day")
      #expect(socket.message() == "STATUS=all_day: 7 seen")
      #expect(socket.message() == "STOPPING=1", "there is no watchdog")
    }

    @Test func theWatchdogIsFedAtHalfItsTime() throws {
      let folder = try TemporaryFolder()
      let socket = try NotifySocket(folder.path + "/notify")
      let patient = ServiceManager(
        socket: socket.name, watchdog: "60000000", watched: "\(getpid())")
      for _ in 0..<1000 { patient.alive() }
      #expect(socket.message() == "WATCHDOG=1")
      let remaining = try #require(patient.remaining)
      #expect(remaining <= .seconds(30))
      #expect(socket.message(within: .zero) == nil, "more often than it wants to hear")
      let service = ServiceManager(socket: socket.name, watchdog: "200000")
      // A busy machine may leave no time for a second message within one wait.
      try eventually("the watchdog is fed during a wait") {
        let begun = MonotonicClock.now()
        #expect(!service.wait(timeout: .milliseconds(750)))
        let waited = MonotonicClock.now() - begun
        #expect(waited >= .milliseconds(750))
        var ticks = 0
        while socket.message(within: .zero) == "WATCHDOG=1" { ticks += 1 }
        // At once and each 100 ms; fewer on a busy machine, never more.
        #expect(ticks <= 1 + Int(waited / .milliseconds(100)))
        return ticks >= 2
      }
    }

    @Test func itIgnoresTheWatchdogOfAnotherProcess() throws {
      let folder = try TemporaryFolder()
      let socket = try NotifySocket(folder.path + "/notify")
      ServiceManager(socket: socket.name, watchdog: "400000", watched: "1").alive()
      for limit in ["0", "-1", "x"] {
        ServiceManager(socket: socket.name, watchdog: limit).alive()
      }
      #expect(socket.message(within: .zero) == nil)
      // There is no listener, or the name is not valid: that is no failure.
      for name in [
        nil, "", "vsock:2:1", folder.path + "/none", "/" + String(repeating: "x", count: 200),
      ] {
        ServiceManager(socket: name, watchdog: "1000").ready("x")
        #expect(
          name?.hasPrefix("/") == true
            || ServiceManager(socket: name, watchdog: "9").remaining == nil)
        #expect(!ServiceManager(socket: name, watchdog: "1000").wait(timeout: .milliseconds(1)))
      }
    }
  }
}
