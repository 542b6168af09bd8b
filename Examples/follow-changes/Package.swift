// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "follow-changes",
  dependencies: [.package(name: "quake", path: "../..")],
  targets: [
    .executableTarget(
      name: "follow-changes", dependencies: [.product(name: "QuakeStore", package: "quake")],
      path: "Sources")
  ]
)
