import Basics
import EmbeddedPostgres
import Postgres
import TestSupport
import Testing

@Suite struct ConnectingTests {
  private func failure(
    _ conninfo: String, timeout: Duration = ToolProcess.patience, wake: Int32? = nil
  ) throws -> PostgresError {
    var settings = ConnectionSettings(conninfo, applicationName: "tests")
    settings.connectTimeout = timeout
    return try #require(throws: PostgresError.self) { _ = try Connection(settings, wake: wake) }
  }

  @Test func aConnectionKnowsItsDatabaseAndHost() throws {
    let database = try TestDatabase.empty()
    let connection = try database.connect(applicationName: "somebody")
    #expect(connection.serverVersion >= 150_000)
    #expect(try connection.ask("select pg_backend_pid()") == "\(connection.serverProcessID)")
    #expect(try connection.ask("show application_name") == "somebody")
    #expect(connection.label.hasPrefix("database \"\(database.name)\" on host \"/"))
  }

  @Test func settingsOfTheConnectionStringPrevailExceptTheEncoding() throws {
    let database = try TestDatabase.empty()
    let connection = try Connection(
      ConnectionSettings(
        database.conninfo + " application_name=mine client_encoding=LATIN1 tcp_user_timeout=7000",
        applicationName: "tests"))
    #expect(try connection.ask("show application_name") == "mine")
    #expect(try connection.ask("show client_encoding") == "UTF8")
  }

  @Test func aPortWithoutAListenerIsRefusedEachTime() throws {
    for _ in 0..<3 {
      let error = try failure("host=127.0.0.1 port=1 dbname=quake user=quake password=s3cret")
      #expect(error.kind == .connection)
      #expect(error.isConnectionLoss)
      #expect(error.message.hasPrefix("could not connect to the database: "))
      #expect(error.message.contains("127.0.0.1"))
      #expect(!"\(error)".contains("s3cret"))
    }
  }

  @Test func anUnknownDatabaseIsNamed() throws {
    let database = try TestDatabase.empty()
    let error = try failure(database.conninfo + " dbname=no_such_database password=s3cret")
    #expect(error.kind == .connection)
    #expect("\(error)".contains("no_such_database"))
    #expect(!"\(error)".contains("s3cret"))
  }

  @Test func anInvalidConnectionStringIsRefused() throws {
    let error = try failure("host=localhost prot=5432")
    #expect(error.kind == .connection)
    #expect(error.message.hasPrefix("invalid connection string: "))
    #expect(error.message.contains("prot"))
    #expect(error.hint != nil)
  }

  /// Each of these makes libpq quote a piece of the password, or of what it takes for something else.
  @Test(arguments: [
    "postgresql://user:s3cret@127.0.0.1:1/quake",
    "postgresql://user:s3cret@127.0.0.1:port/quake",
    "postgresql://user:s3cret@[::1]x/quake",
    "postgresql://user:s3cret@[::1/quake",
    "postgresql://user:%zzs3cret@127.0.0.1:1/quake",
    "postgresql://user:x@s3cret@127.0.0.1:1/quake",
    "postgresql://user:1/s3cret@127.0.0.1:1/quake",
    "postgresql://user:s3cret/1@127.0.0.1:1/quake",
    "postgresql://user:s3cret@127.0.0.1:1/quake?no=such",
    "postgresql://user:s3cret@127.0.0.1:1/quake?nosuch",
    "host=127.0.0.1 port=1 password=no s3cret",
    "host=127.0.0.1 port=1 password=no s3cret=1",
    "host=127.0.0.1 port=1 password='s3cret",
    "password=s3cret port=x host=127.0.0.1",
  ])
  func noErrorTextContainsThePasswordHoweverItIsWritten(conninfo: String) throws {
    let error = try failure(conninfo)
    #expect(error.kind == .connection)
    #expect(!"\(error)".contains("s3cret"))
    #expect(!"\(error.context ?? "")".contains("s3cret"))
  }

  /// A server would name the database that it does not have.
  @Test(arguments: [
    "user:s3cret@127.0.0.1:1/quake", "dbname=postgres://user:s3cret@/quake host=127.0.0.1 port=1",
  ])
  func aURLWithoutItsSchemeIsNotTakenForADatabaseName(conninfo: String) throws {
    let error = try failure(conninfo)
    #expect(error.message == "invalid connection string: a URL without its beginning")
  }

  @Test func theErrorSaysHowToEscapeASpecialCharacterInAURL() throws {
    let error = try failure("postgresql://user:a@b@127.0.0.1:1/quake")
    #expect(error.hint?.contains("%40") == true)
  }

  @Test func anAtSignIsAcceptedWhereItIsValid() throws {
    for conninfo in [
      "postgresql://user%40azure:a%40b@127.0.0.1:1/quake", "postgresql://user:p?w@127.0.0.1:1/x",
      "postgresql://127.0.0.1:1/quake?user=a@b", "postgresql://@127.0.0.1:1/quake",
    ] {
      let error = try failure(conninfo)
      #expect(error.message.hasPrefix("could not connect to the database: "), "\(conninfo)")
    }
  }

  @Test func aHostThatAcceptsAndStaysSilentIsLeft() throws {
    let silent = try SilentServer()
    let error = try failure(
      "host=127.0.0.1 port=\(silent.port) password=s3cret", timeout: .milliseconds(50))
    #expect(error.kind == .timeout)
    #expect(error.isConnectionLoss)
    #expect(error.message.contains("\"127.0.0.1\""))
    #expect(!"\(error)".contains("s3cret"))
  }

  @Test func aSilentHostIsFollowedByTheNextOne() throws {
    let silent = try SilentServer()
    let database = try TestDatabase.empty()
    let socket = TestServer.shared.server.options.home + "/socket"
    var connection: Connection?
    // Each host has this time, the real one too, and a busy machine may need more.
    for seconds in [2, 10, 60] where connection == nil {
      connection = try? Connection(
        ConnectionSettings(
          "\(database.conninfo) host=127.0.0.1,\(socket) port=\(silent.port),5432 connect_timeout=\(seconds)",
          applicationName: "tests"))
    }
    #expect(try #require(connection).ask("select 1") == "1")
  }

  @Test(arguments: ["127.0.0.1", "127.0.0.1,127.0.0.1"])
  func connectingStopsWhenTheWakeDescriptorIsReadable(_ hosts: String) throws {
    let silent = try SilentServer()
    let wake = try Wake()
    wake.trigger()
    let error = try failure("host=\(hosts) port=\(silent.port)", wake: wake.descriptor)
    #expect(error.kind == .interrupted)
    #expect(!error.isConnectionLoss)
  }
}
