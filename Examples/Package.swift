// swift-tools-version: 6.0
import PackageDescription

/// Programs outside of the quake package, as yours would be.
let package = Package(
  name: "examples",
  dependencies: [.package(name: "quake", path: "..")],
  targets: ["first-program", "follow-changes", "alert", "mirror", "second-application"].map {
    name in
    .executableTarget(
      name: name, dependencies: [.product(name: "QuakeStore", package: "quake")], path: name)
  }
)
