import Foundation
import TestSupport
import Testing

/// Two servers under Patroni with an etcd, each configured by deploy/failover/patroni.yml, on free ports of this machine
/// and without the watchdog.
final class PatroniCluster {
  static let isInstalled =
    (try? Tools.shell("command -v patroni && command -v etcd && command -v setpriv").status == 0)
    == true

  /// Patroni waits for its lease of 30 s first.
  static let patience = Duration.seconds(600)

  let folder: TemporaryFolder
  let nodes: [Node]
  /// Both hosts.
  let url: String
  /// The environment of clients.
  let environment = ["PGPASSWORD": "of the superuser"]
  private let ports: [ReservedPort]
  private let etcd: ToolProcess

  /// A server and its Patroni.
  final class Node {
    fileprivate let name: String
    fileprivate let api: Int
    /// Its files.
    fileprivate let home: String
    fileprivate var patroni: ToolProcess?

    fileprivate init(_ name: String, api: Int, in folder: TemporaryFolder) {
      (self.name, self.api, home) = (name, api, folder.path + "/" + name)
    }

    /// What Patroni has said.
    func log() throws -> String {
      try contents(of: home + "/log")
    }

    /// Kills Patroni and each process of PostgreSQL.
    func kill() throws {
      patroni?.signal(SIGKILL)
      _ = try patroni?.exit()
      patroni = nil
      try Tools.shell(
        """
        read -r server < data/postmaster.pid
        kill -STOP "$server"
        kill -KILL "$server" $(cat "/proc/$server/task/$server/children")
        """, folder: home
      ).requireSuccess()
    }
  }

  /// A cluster whose first node is the primary and the other its synchronous standby, with an empty database.
  init() throws {
    folder = try TemporaryFolder()
    ports = try (0..<6).map { _ in try ReservedPort() }
    let numbers = ports.map(\.number)
    nodes = [
      Node("a", api: numbers[2], in: folder), Node("b", api: numbers[3], in: folder),
    ]
    func url(_ database: String) -> String {
      "postgresql://postgres@127.0.0.1:\(numbers[4]),127.0.0.1:\(numbers[5])/\(database)"
        + "?target_session_attrs=read-write&connect_timeout=3"
    }
    self.url = url("quake")
    let (client, peer) = ("http://127.0.0.1:\(numbers[0])", "http://127.0.0.1:\(numbers[1])")
    etcd = try Tools.startShell(
      """
      exec etcd --name etcd --data-dir '\(folder.path)/etcd' --listen-client-urls \(client) \
        --advertise-client-urls \(client) --listen-peer-urls \(peer) \
        --initial-advertise-peer-urls \(peer) --initial-cluster etcd=\(peer) > '\(folder.path)/etcd.log' 2>&1
      """)
    try Tools.shell(
      """
      openssl req -new -x509 -days 30 -nodes -subj /CN=test -out crt -keyout key
      chmod 600 key
      if [ "$(id -u)" = 0 ]; then chown postgres key; fi
      """, folder: folder.path
    ).requireSuccess()
    for (node, port) in zip(nodes, numbers[4...]) {
      try configure(node, etcd: numbers[0], port: port)
      try start(node)
      // The first makes the cluster, and the second copies it.
      let isFirst = node === nodes[0]
      try wait("\(node.name) is there", for: node, isFirst ? "primary" : "synchronous")
    }
    try psql("create database quake", url("postgres")).requireSuccess()
  }

  deinit { try? stop() }

  private func configure(_ node: Node, etcd: Int, port: Int) throws {
    var text = try contents(of: Tools.package + "/deploy/failover/patroni.yml")
    let programs = URL(fileURLWithPath: Tools.psql).deletingLastPathComponent().path
    for (old, new) in [
      ("\nname: a\n", "\nname: \(node.name)\n"),
      ("hosts: 10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379", "hosts: 127.0.0.1:\(etcd)"),
      (" 10.0.0.1:8008", " 127.0.0.1:\(node.api)"), (" 10.0.0.1:5432", " 127.0.0.1:\(port)"),
      ("/var/lib/postgresql/15/quake", "\(node.home)/data"),
      ("/usr/lib/postgresql/15/bin", programs), ("10.0.0.0/24", "127.0.0.0/8"),
      ("/etc/ssl/certs/ssl-cert-snakeoil.pem", "\(folder.path)/crt"),
      ("/etc/ssl/private/ssl-cert-snakeoil.key", "\(folder.path)/key"),
      ("mode: required", "mode: \"off\""),
      ("    ssl: \"on\"\n", "    ssl: \"on\"\n    unix_socket_directories: \(node.home)\n"),
    ] {
      try #require(text.contains(old), "patroni.yml has no \(old)")
      text = text.replacing(old, with: new)
    }
    try folder.write("\(node.name).yml", text)
    try Tools.shell(
      "mkdir '\(node.home)'; if [ \"$(id -u)\" = 0 ]; then chown postgres '\(node.home)'; fi"
    ).requireSuccess()
  }

  /// Starts Patroni, which starts PostgreSQL.
  func start(_ node: Node) throws {
    node.patroni = try Tools.startShell(
      """
      cd '\(node.home)'
      set -- patroni '\(folder.path)/\(node.name).yml'
      if [ "$(id -u)" = 0 ]; then
        set -- setpriv --reuid postgres --regid postgres --init-groups "$@"
      fi
      exec "$@" >> '\(node.home)/log' 2>&1
      """,
      environment: [
        "PATRONI_SUPERUSER_PASSWORD": "of the superuser",
        "PATRONI_REPLICATION_PASSWORD": "of the replicator", "HOME": node.home,
      ])
  }

  /// Stops Patroni on both nodes, which stops PostgreSQL.
  func stop() throws {
    for node in nodes.reversed() {
      node.patroni?.signal(SIGTERM)
      let outcome = try node.patroni?.exit()
      node.patroni = nil
      #expect(outcome?.status ?? 0 == 0)
    }
  }

  /// Waits until a node has a role, as load balancers ask for it.
  func wait(_ what: String, for node: Node, _ role: String) throws {
    do {
      try eventually(what, within: Self.patience) {
        try Tools.shell("curl -sf -o /dev/null http://127.0.0.1:\(node.api)/\(role)").status == 0
      }
    } catch {
      throw ToolProcess.Failure(description: "\(error)\n\(try node.log().suffix(4000))")
    }
  }

  /// The answer of the primary, one row a line.
  @discardableResult
  func ask(_ query: String) throws -> String {
    try psql(query, url).requireSuccess().lines.joined(separator: "\n")
  }

  private func psql(_ query: String, _ url: String) throws -> ToolProcess.Outcome {
    try ToolProcess(
      Tools.psql, ["-X", "-A", "-t", "-q", "-c", query, "-d", url],
      environment: Tools.environment.merging(environment) { $1 }
    ).exit()
  }
}
