// swift-tools-version: 6.0
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
  name: "quake",
  products: [
    .library(name: "QuakeModel", targets: ["QuakeModel"]),
    .library(name: "QuakeFeed", targets: ["QuakeFeed"]),
    .library(name: "QuakeStore", targets: ["QuakeStore"]),
    .executable(name: "quake-ingest", targets: ["quake-ingest"]),
    .executable(name: "quake-watch", targets: ["quake-watch"]),
    .executable(name: "quake-admin", targets: ["quake-admin"]),
  ],
  targets: [
    // C libraries, from the system's packages.
    .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(
      name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CSimdjsonLibrary", pkgConfig: "simdjson", providers: [.apt(["libsimdjson-dev"])]),
    .systemLibrary(
      name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    // A small C interface in front of simdjson, which is C++.
    .target(name: "CSimdjson", dependencies: ["CSimdjsonLibrary"]),

    .target(name: "Postgres", dependencies: ["CLibpq"], swiftSettings: strict),
    .target(
      name: "QuakeModel", swiftSettings: strict,
      linkerSettings: [.linkedLibrary("m")]),  // the standard library's floating point calls it
    .target(
      name: "QuakeFeed", dependencies: ["QuakeModel", "CLibcurl", "CSimdjson", "CZlib"],
      swiftSettings: strict),
    .target(
      name: "Migrations", path: "migrations", sources: ["EmbeddedMigrations.swift"],
      resources: [
        .embedInCode("0001_quake.sql"),
        .embedInCode("0002_history.sql"),
      ],
      swiftSettings: strict),
    .target(
      name: "QuakeStore", dependencies: ["QuakeModel", "Postgres", "Migrations"],
      swiftSettings: strict),
    .target(name: "CommandLine", swiftSettings: strict),
    .target(
      name: "QuakeTool", dependencies: ["CommandLine", "QuakeStore", "QuakeModel", "Postgres"],
      swiftSettings: strict),

    .executableTarget(
      name: "quake-ingest",
      dependencies: ["QuakeTool", "QuakeFeed", "QuakeStore", "QuakeModel", "CommandLine", "CMicrohttpd"],
      swiftSettings: strict),
    .executableTarget(
      name: "quake-watch",
      dependencies: ["QuakeTool", "QuakeStore", "QuakeModel", "CommandLine"], swiftSettings: strict),
    .executableTarget(
      name: "quake-admin",
      dependencies: ["QuakeTool", "QuakeStore", "QuakeModel", "CommandLine"], swiftSettings: strict),

    .testTarget(
      name: "CommandLineTests", dependencies: ["CommandLine"], swiftSettings: strict),
  ],
  cxxLanguageStandard: .cxx17
)
