import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// docker-compose.yml and deploy/compose-secrets.sh. No Docker is needed: the test reads the file
/// and runs its commands as its user, with its read-only root, its temporary folders and its
/// secrets, in a mount namespace.
@Suite(
  .serialized, .enabled(if: ComposeFile.isReadable, "there is no Python with a YAML package"))
struct ComposeTests {
  @Test func everyServiceIsConfined() throws {
    let compose = try ComposeFile()
    #expect(compose.services.map(\.name) == ["ingest", "migrate", "postgres", "serve", "watch"])
    for service in compose.services {
      #expect(service.strings("cap_drop") == ["ALL"], "\(service.name)")
      #expect(service.strings("security_opt") == ["no-new-privileges:true"], "\(service.name)")
      #expect(service.string("mem_limit") != nil, "\(service.name)")
      #expect((service.integer("pids_limit") ?? 0) > 0, "\(service.name)")
    }
    for service in compose.tools {
      #expect(service.bool("read_only"), "\(service.name)")
      #expect(service.strings("cap_add").isEmpty && service.strings("volumes").isEmpty)
      #expect(service.string("user")?.hasPrefix("${QUAKE_UID:-10001}") == true)
      #expect(service.environment.values.allSatisfy { !$0.contains("password") })
    }
    // An exact version, which no later release replaces.
    let image = try #require(try compose.service("postgres").string("image"))
    #expect(try #/postgres:\d+\.\d+-.+/#.wholeMatch(in: image) != nil, "\(image)")
    let docker = try contents(of: Tools.package + "/Dockerfile")
    #expect(docker.contains(#/ARG DEBIAN_VERSION=\d+\.\d+\n/#))
    // It is made from the tarball, so nothing is compiled.
    let images = docker.split(separator: "\n").filter { $0.hasPrefix("FROM ") }
    #expect(images.allSatisfy { $0.hasPrefix("FROM debian:${DEBIAN_VERSION}-slim") })
    #expect(docker.contains("\nUSER 10001:10001\n"))
  }

  @Test func eachToolConnectsAsTheRoleThatItNeeds() throws {
    let compose = try ComposeFile()
    for (service, role, secrets) in [
      (
        "migrate", "quake",
        ["superuser_passfile", "writer_password", "watcher_password", "reader_password"]
      ),
      ("ingest", "quake_writer", ["writer_passfile"]),
      ("watch", "quake_watcher", ["watcher_passfile"]),
      ("serve", "quake_reader", ["reader_passfile"]),
    ] {
      let service = try compose.service(service)
      #expect(
        service.environment["DATABASE_URL"] == "postgresql://\(role)@postgres/quake",
        "\(service.name)")
      #expect(service.strings("secrets") == secrets, "\(service.name)")
      #expect(
        service.environment["PGPASSFILE"] == "/run/secrets/" + (secrets[0]), "\(service.name)")
    }
  }

  /// Root makes what is missing for the user who has begun.
  @Test(.enabled(if: geteuid() == 0, "only root becomes another user"))
  func theSecretsBelongToTheUserIdOfTheEnvironmentFile() throws {
    let folder = try TemporaryFolder()
    try Tools.shell(
      """
      chmod 755 .; mkdir deploy; cp '\(Tools.package)/deploy/compose-secrets.sh' deploy/
      printf 'FEED=simulated' > .env; chown -R nobody . .env
      setpriv --reuid nobody --clear-groups deploy/compose-secrets.sh
      rm deploy/secrets/reader_*
      deploy/compose-secrets.sh
      grep -x 'FEED=simulated' .env
      grep -x "QUAKE_UID=$(id -u nobody)" .env
      test "$(stat -c %u deploy/secrets/* | sort -u)" = "$(id -u nobody)"
      """, folder: folder.path
    ).expect(0)
  }

  @Test(.enabled(if: geteuid() == 0, "only root makes a mount namespace"))
  func theConfinedServicesWork() throws {
    let compose = try ComposeFile()
    let scene = try ComposeScene(compose)
    // The system's folders are read-only, and the user is not root.
    let writes = try scene.run(
      "ingest", command: ["sh", "-c", "touch /quake-own || touch /var/lib/quake-own || id -u"])
    #expect(writes.lines == ["10001"], "\(writes.output)\(writes.errors)")

    // The service may run again and again.
    for _ in 0..<2 { try scene.run("migrate").expect(0) }
    #expect(
      try scene.admin.table(
        "select rolname from pg_authid where rolpassword is not null and rolname like 'quake\\_%' order by 1"
      ) == ["quake_reader", "quake_watcher", "quake_writer"])

    let feed = try ScriptedServer(200, body: Array(Feeds.collection(count: 3).utf8))
    let ingest = try scene.start("ingest", feed: feed.url)
    try ingest.waitForError("3 inserted")
    let watch = try scene.start("watch")
    #expect(try watch.lines(3).count == 3)
    for (process, service) in [(ingest, "ingest"), (watch, "watch")] {
      let limit = try #require(try compose.service(service).string("mem_limit"))
      let mebibytes = try #require(Int(limit.dropLast()))
      #expect(try ProcessMemory.peak(of: process.pid) < mebibytes * 1024, "\(service)")
      process.signal(SIGTERM)
      try process.exit().expect(0, output: "")
    }
    let serve = try scene.start(
      "serve", command: ["quake-serve", "--listen", "127.0.0.1:0"])
    try serve.waitForError("serving on http://")
    try serve.end()
    // The cursor is in the database, from which a new container continues.
    #expect(
      try scene.admin.table(
        "select w.name, w.token, t.database_user from quake.watcher w, quake.change_transaction t")
        == ["compose|1|quake_writer"])
    // A wrong password is refused.
    try scene.setPassword("writer", "wrong")
    try scene.run("ingest", feed: feed.url).expect(69)
  }
}

/// The services of the Compose file with a server of their own.
private final class ComposeScene {
  /// A connection of the superuser.
  let admin: Connection
  private let compose: ComposeFile
  private let server: EmbeddedServer
  private let folder: TemporaryFolder
  private var secrets: String { folder.path + "/deploy/secrets" }
  private var socket: String { server.options.home + "/socket" }

  init(_ compose: ComposeFile) throws {
    self.compose = compose
    folder = try TemporaryFolder()
    // The script writes the secrets beside itself. A second run keeps them.
    let made = try Tools.shell(
      """
      mkdir deploy; cp '\(Tools.package)/deploy/compose-secrets.sh' deploy/
      deploy/compose-secrets.sh; cat deploy/secrets/* > before
      deploy/compose-secrets.sh; cat deploy/secrets/* | cmp - before
      """, folder: folder.path)
    guard made.status == 0 else { throw ToolProcess.Failure(description: made.errors) }
    var options = EmbeddedServer.Options(
      home: "/tmp/quake-compose-\(getpid())-\(UInt32.random(in: 0 ... .max))")
    options.settings = ["fsync": "off", "unix_socket_permissions": "0777"]
    options.binDirectory = ProcessInfo.processInfo.environment["QUAKE_PG_BIN"]
    server = try EmbeddedServer(options)
    try server.start()
    admin = try Connection(ConnectionSettings(server.conninfo, applicationName: "tests"))
    // As in the image: a superuser with a password, and no connection without one.
    let password = try contents(of: secrets + "/postgres_password")
    try admin.run(
      "alter role quake password '\(password.trimmingCharacters(in: .whitespacesAndNewlines))'")
    try "local all all scram-sha-256\n".write(
      toFile: options.home + "/data/pg_hba.conf", atomically: false, encoding: .utf8)
    try admin.run("select pg_reload_conf()")
    _ = chmod(socket, 0o755)
    for name in ["superuser", "writer", "watcher", "reader"] {
      let path = "\(secrets)/\(name)_passfile"
      let line = try contents(of: path)
      // Overwritten in place, so that the file keeps its owner.
      try Self.overwrite(path, line.replacing("postgres:5432", with: "/run/postgresql:*"))
    }
  }

  deinit {
    _ = try? server.stop(mode: .immediate)
    try? FileManager.default.removeItem(atPath: server.options.home)
  }

  private static func overwrite(_ path: String, _ text: String) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  func setPassword(_ name: String, _ password: String) throws {
    try Self.overwrite("\(secrets)/\(name)_passfile", "*:*:*:*:\(password)\n")
  }

  func run(
    _ name: String, feed: String = "", command: [String]? = nil
  ) throws -> ToolProcess.Outcome {
    try start(name, feed: feed, command: command).exit()
  }

  /// Starts the command of a service, confined as the service is.
  func start(_ name: String, feed: String = "", command: [String]? = nil) throws -> ToolProcess {
    let service = try compose.service(name)
    var environment = Tools.environment
    environment["TOOLS"] = Tools.folder
    environment["SOCKET"] = socket
    environment["SECRETS"] = try service.strings("secrets").map {
      folder.path + "/" + (try secretFile($0)).dropFirst(2)
    }.joined(separator: " ")
    environment["NAMES"] = service.strings("secrets").joined(separator: " ")
    environment["MOUNTS"] = service.strings("tmpfs").joined(separator: " ")
    var variables = service.environment
    let port = try admin.ask("show port") ?? ""
    variables["DATABASE_URL"] = variables["DATABASE_URL"]?.replacing(
      "@postgres/quake", with: "@/quake?host=/run/postgresql&port=\(port)")
    let words = (command ?? service.strings("command")).map {
      $0.replacing("${FEED:-all_day}", with: feed)
    }
    return try ToolProcess(
      "/usr/bin/unshare",
      ["--mount", "--propagation", "private", "/bin/sh", "-eu", "-c", Self.sandbox, "sandbox"]
        + variables.map { "\($0.key)=\($0.value)" } + words,
      environment: environment)
  }

  private func secretFile(_ name: String) throws -> String {
    guard let file = compose.secrets[name] else {
      throw ToolProcess.Failure(description: "there is no secret \(name)")
    }
    return file
  }

  /// The container: the tools, the secrets of the service and the server's socket. Only the
  /// temporary folders of the service are writable.
  private static let sandbox = """
    mount --bind "$TOOLS" /usr/local/bin
    mount -t tmpfs tmpfs /run
    mkdir /run/secrets /run/postgresql
    mount --bind "$SOCKET" /run/postgresql
    set -- "$@"
    files=$SECRETS
    for name in $NAMES; do
      cp -p "${files%% *}" "/run/secrets/$name"
      files=${files#* }
    done
    mount -o remount,bind,ro /run
    mount -o remount,bind,ro /
    for folder in /tmp /var/tmp /dev/shm; do
      if mountpoint -q $folder; then mount -o remount,bind,ro $folder; fi
    done
    for entry in $MOUNTS; do
      mount -t tmpfs -o "${entry#*:}" tmpfs "${entry%%:*}"
    done
    cd /
    exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --bounding-set=-all \
      --inh-caps=-all env -i PATH=/usr/local/bin:/usr/bin:/bin "$@"
    """
}
