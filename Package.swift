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
    .library(name: "QuakeStore", targets: ["QuakeStore", "QuakeLive"]),
    .executable(name: "quake-ingest", targets: ["quake-ingest"]),
    .executable(name: "quake-watch", targets: ["quake-watch"]),
    .executable(name: "quake-query", targets: ["quake-query"]),
    .executable(name: "quake-admin", targets: ["quake-admin"]),
  ],
  targets: [
    // C libraries, from the system's packages.
    .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(
      name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    // The package manager ignores a flag in Debian's simdjson.pc, with a warning; it is not needed.
    .systemLibrary(
      name: "CSimdjsonLibrary", pkgConfig: "simdjson", providers: [.apt(["libsimdjson-dev"])]),
    .systemLibrary(
      name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CInih", pkgConfig: "inih", providers: [.apt(["libinih-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    // A small C interface in front of simdjson, which is C++.
    .target(
      name: "CSimdjson", dependencies: ["CSimdjsonLibrary"],
      cxxSettings: [.define("SIMDJSON_EXCEPTIONS", to: "0")],  // errors are codes, not exceptions
      linkerSettings: [.linkedLibrary("simdjson")]),  // no Swift imports the library's own module

    // Two functions of glibc that its Swift module excludes.
    .target(name: "CIdleMemory"),
    // A system call that older versions of glibc do not declare.
    .target(name: "CProcess"),

    // The lowest modules, which several others use.
    .target(name: "SystemClock", swiftSettings: strict),
    .target(name: "ExplainedErrors", swiftSettings: strict),

    // Text that is safe to print: JSON strings, and the list of hidden characters.
    .target(name: "SafeText", swiftSettings: strict),
    .testTarget(
      name: "SafeTextTests", dependencies: ["SafeText", "CommandLine", "QuakeModel"],
      swiftSettings: strict),

    .target(
      name: "Postgres", dependencies: ["CLibpq", "ExplainedErrors", "SystemClock"],
      swiftSettings: strict),
    .target(
      name: "QuakeModel", dependencies: ["ExplainedErrors", "SafeText", "SystemClock"],
      swiftSettings: strict,
      linkerSettings: [.linkedLibrary("m")]),  // the standard library's floating point calls it
    .target(
      name: "QuakeFeed",
      dependencies: [
        "QuakeModel", "ExplainedErrors", "SystemClock", "CLibcurl", "CSimdjson", "CZlib",
      ],
      swiftSettings: strict),
    .target(
      name: "Migrations", path: "migrations", exclude: ["RELEASED", "schema.sql"],
      sources: ["EmbeddedMigrations.swift"],
      resources: [
        .embedInCode("0001_events.sql"),
        .embedInCode("0002_imports.sql"),
        .embedInCode("0003_history.sql"),
        .embedInCode("0004_retention.sql"),
        .embedInCode("0005_workers.sql"),
      ],
      swiftSettings: strict),
    .target(
      name: "ChildProcesses", dependencies: ["CProcess", "SystemClock"], swiftSettings: strict),
    .testTarget(
      name: "ChildProcessesTests", dependencies: ["ChildProcesses"], swiftSettings: strict),
    // The private server of a user who names no database.
    .target(
      name: "EmbeddedPostgres", dependencies: ["ChildProcesses", "ExplainedErrors", "SystemClock"],
      swiftSettings: strict),
    .target(
      name: "QuakeSchema",
      dependencies: ["Postgres", "Migrations", "QuakeModel", "SystemClock"],
      swiftSettings: strict),
    .target(
      name: "QuakeHistory", dependencies: ["Postgres", "QuakeModel", "SystemClock"],
      swiftSettings: strict),
    .target(
      name: "QuakeImport",
      dependencies: ["Postgres", "QuakeModel", "ExplainedErrors", "SystemClock"],
      swiftSettings: strict),
    .target(
      name: "QuakeWorker", dependencies: ["QuakeHistory", "Postgres", "QuakeModel", "SystemClock"],
      swiftSettings: strict),
    // The modules of the store under one name, for other programs.
    .target(
      name: "QuakeStore",
      dependencies: [
        "EmbeddedPostgres", "ExplainedErrors", "Postgres", "QuakeHistory", "QuakeImport",
        "QuakeLive", "QuakeModel", "QuakeSchema", "QuakeWorker",
      ], swiftSettings: strict),
    // The roles of a database and their privileges.
    .target(
      name: "QuakeRoles", dependencies: ["Postgres", "ExplainedErrors"], swiftSettings: strict),
    // Changes and live lists for programs with Swift concurrency, which the tools do not use.
    .target(
      name: "QuakeLive",
      dependencies: ["QuakeHistory", "QuakeSchema", "QuakeModel", "Postgres", "SystemClock"],
      swiftSettings: strict),
    // Imitates USGS's feeds, their revisions and their faults, for tests and demonstrations.
    .target(
      name: "QuakeSimulator",
      dependencies: ["QuakeModel", "ExplainedErrors", "CMicrohttpd", "CZlib"],
      swiftSettings: strict,
      linkerSettings: [.linkedLibrary("m")]),  // logarithms and sines
    .testTarget(
      name: "QuakeSimulatorTests",
      dependencies: ["QuakeSimulator", "QuakeModel", "CZlib"],
      swiftSettings: strict),
    .target(
      name: "CommandLine", dependencies: ["SafeText", "SystemClock"], swiftSettings: strict),
    // Options in a configuration file. A module of its own, because quake-watch has no such file.
    .target(name: "Configuration", dependencies: ["CommandLine", "CInih"], swiftSettings: strict),
    .target(
      name: "QuakeTool",
      dependencies: [
        "CommandLine", "EmbeddedPostgres", "QuakeHistory", "QuakeSchema", "QuakeWorker",
        "QuakeModel", "Postgres", "ExplainedErrors", "SystemClock",
      ],
      swiftSettings: strict),

    // Makes feeds sources of imports; QuakeFeed and the store do not import each other.
    .target(
      name: "FeedImport", dependencies: ["QuakeFeed", "QuakeImport", "QuakeModel", "Postgres"],
      swiftSettings: strict),

    .executableTarget(
      name: "quake-ingest",
      dependencies: [
        "CIdleMemory", "QuakeTool", "FeedImport", "QuakeFeed", "QuakeSimulator", "QuakeWorker",
        "QuakeImport", "QuakeHistory", "QuakeSchema", "EmbeddedPostgres", "QuakeModel", "Postgres",
        "Configuration", "CommandLine", "ExplainedErrors", "SystemClock",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "quake-watch",
      dependencies: [
        "ChildProcesses", "CIdleMemory", "Postgres", "QuakeTool", "QuakeWorker", "QuakeHistory",
        "QuakeSchema", "EmbeddedPostgres", "QuakeModel", "CommandLine", "SystemClock",
      ], swiftSettings: strict),
    .executableTarget(
      name: "quake-query",
      dependencies: [
        "QuakeTool", "QuakeHistory", "QuakeSchema", "QuakeModel", "Postgres", "CommandLine",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "quake-admin",
      dependencies: [
        "ChildProcesses", "QuakeTool", "FeedImport", "QuakeFeed", "QuakeRoles", "QuakeWorker",
        "QuakeImport", "QuakeHistory", "QuakeSchema", "EmbeddedPostgres", "QuakeModel", "Postgres",
        "CommandLine", "SystemClock",
      ],
      swiftSettings: strict),

    // The benchmark program, which is not installed.
    .executableTarget(
      name: "quake-bench",
      dependencies: [
        "CIdleMemory", "ChildProcesses", "QuakeTool", "QuakeFeed", "QuakeSimulator", "QuakeHistory",
        "QuakeSchema", "EmbeddedPostgres", "QuakeModel", "Postgres", "CommandLine", "SystemClock",
      ],
      path: "Benchmarks",
      exclude: [
        "contenders/dlt_load.py", "contenders/jq_copy.sh", "contenders/psycopg_copy.py",
      ],
      swiftSettings: strict),

    .executableTarget(
      name: "signal-probe", dependencies: ["CommandLine"], path: "Tests/SignalProbe",
      swiftSettings: strict),
    .target(
      name: "TestSupport",
      dependencies: [
        "ChildProcesses", "EmbeddedPostgres", "QuakeSchema", "Postgres", "SystemClock",
      ],
      path: "Tests/TestSupport",
      swiftSettings: strict),
    .testTarget(
      name: "QuakeModelTests", dependencies: ["QuakeModel", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PostgresTests", dependencies: ["Postgres", "SystemClock", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "QuakeStoreTests",
      dependencies: [
        "ChildProcesses", "QuakeSchema", "QuakeHistory", "QuakeImport", "QuakeWorker", "QuakeModel",
        "Postgres", "SystemClock", "TestSupport",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "live-probe", dependencies: ["QuakeLive", "QuakeModel"], path: "Tests/LiveProbe",
      swiftSettings: strict),
    .testTarget(
      name: "QuakeLiveTests",
      dependencies: [
        "QuakeStore", "QuakeLive", "EmbeddedPostgres", "QuakeSchema", "QuakeHistory", "QuakeModel",
        "Postgres", "ChildProcesses", "SystemClock", "TestSupport", "live-probe",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "EmbeddedPostgresTests", dependencies: ["ChildProcesses", "EmbeddedPostgres"],
      swiftSettings: strict),
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "TestSupport", "QuakeSimulator", "QuakeModel", "EmbeddedPostgres", "Postgres",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "QuakeRolesTests",
      dependencies: [
        "QuakeRoles", "QuakeSchema", "QuakeHistory", "QuakeWorker", "QuakeModel", "Postgres",
        "SystemClock", "TestSupport",
      ], swiftSettings: strict),
    // The guarantees of the change feed under load and faults.
    .testTarget(
      name: "ChangeFeedTests",
      dependencies: [
        "ChildProcesses", "TestSupport", "QuakeModel", "QuakeSchema", "EmbeddedPostgres",
        "Postgres",
        "SystemClock", "CZlib",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "QuakeFeedTests", dependencies: ["QuakeFeed", "QuakeModel", "CZlib"],
      swiftSettings: strict),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "ChildProcesses", "Configuration", "CommandLine", "SystemClock", "TestSupport",
        "signal-probe",
      ],
      swiftSettings: strict),
  ],
  cxxLanguageStandard: .cxx17
)
