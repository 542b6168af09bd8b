import Foundation
import TestSupport

/// docker-compose.yml, read by Python, so that the tests need no Docker.
struct ComposeFile {
  /// A service, with its YAML merge keys resolved.
  struct Service {
    let name: String
    private let members: [String: Any]

    init(name: String, members: [String: Any]) {
      self.name = name
      self.members = members
    }

    func string(_ key: String) -> String? { members[key] as? String }
    func integer(_ key: String) -> Int? { (members[key] as? NSNumber)?.intValue }
    func bool(_ key: String) -> Bool { (members[key] as? NSNumber)?.boolValue ?? false }
    func strings(_ key: String) -> [String] { members[key] as? [String] ?? [] }
    var environment: [String: String] { members["environment"] as? [String: String] ?? [:] }
  }

  /// Whether Python has a YAML package.
  static let isReadable =
    (try? Tools.shell("python3 -c 'import yaml'").status == 0) == true

  let services: [Service]
  /// The files of the secrets by name.
  let secrets: [String: String]

  /// The services that run Quake's tools.
  var tools: [Service] { services.filter { $0.string("image") == "quake" } }

  init() throws {
    let outcome = try Tools.shell(
      "python3 -c 'import json, yaml; print(json.dumps(yaml.safe_load(open(\"docker-compose.yml\"))))'",
      folder: Tools.package)
    guard
      let root = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        as? [String: Any],
      let services = root["services"] as? [String: [String: Any]],
      let secrets = root["secrets"] as? [String: [String: String]]
    else { throw ToolProcess.Failure(description: "not a Compose file: \(outcome.errors)") }
    self.services = services.sorted { $0.key < $1.key }.map {
      Service(name: $0.key, members: $0.value)
    }
    self.secrets = secrets.compactMapValues { $0["file"] }
  }

  func service(_ name: String) throws -> Service {
    guard let service = services.first(where: { $0.name == name }) else {
      throw ToolProcess.Failure(description: "there is no service \(name)")
    }
    return service
  }
}
