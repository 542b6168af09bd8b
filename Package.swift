// swift-tools-version: 6.0
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

// Otherwise the compiler would make the interface of a module first, and for that check the types and expand the macros
// of its code twice.
let quicklyCompiled = ["-Onone", "-no-emit-module-separately-wmo"]

// In the build of `make test`, only the modules that handle every record are optimised. Optimising the others would
// take longer than it would save. `make build` optimises all.
let unoptimisedInTests: [SwiftSetting] =
  Context.environment["QUAKE_TEST_BUILD"] == nil ? strict : strict + [.unsafeFlags(quicklyCompiled)]

// Nor are the tests optimised.
let tests: [SwiftSetting] =
  strict + [.unsafeFlags(quicklyCompiled, .when(configuration: .release))]

// The files of the largest module are compiled side by side.
let largestTests: [SwiftSetting] =
  strict + [
    .unsafeFlags(
      [
        "-Onone", "-no-whole-module-optimization", "-enable-batch-mode",
        "-no-emit-module-separately",
      ],
      .when(configuration: .release))
  ]

// The tools need no Swift on their machine, and an idle one needs half the memory.
let tool: [LinkerSetting] = [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]

// The commit, for `--version`. `make` names it: the package manager's own way to ask git keeps an old answer.
let commit: [CSetting] = [
  .define("QUAKE_COMMIT", to: "\"\(Context.environment["QUAKE_COMMIT"] ?? "")\"")
]

let package = Package(
  name: "quake",
  products: [
    .library(name: "QuakeStore", targets: ["QuakeStore"]),
    .executable(name: "quake-ingest", targets: ["quake-ingest"]),
    .executable(name: "quake-watch", targets: ["quake-watch"]),
    .executable(name: "quake-query", targets: ["quake-query"]),
    .executable(name: "quake-admin", targets: ["quake-admin"]),
    .executable(name: "quake-serve", targets: ["quake-serve"]),
  ],
  targets: [
    // C libraries, from the system's packages.
    .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    // What the server stands on: HTTP, and in a module of its own WebSocket. Its module map links both.
    .systemLibrary(
      name: "CMicrohttpd", pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev", "libwslay-dev"])]),
    .systemLibrary(name: "CInih", pkgConfig: "inih", providers: [.apt(["libinih-dev"])]),
    // zlib and Zstandard. Their module map links both: one target can name only one file of pkg-config.
    .systemLibrary(
      name: "CCompression", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev", "libzstd-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(
      name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    // A small C interface in front of simdjson, which is C++. Without pkg-config: the package manager warns about a
    // flag in Debian's simdjson.pc, which is not needed.
    .target(
      name: "CSimdjson",
      cxxSettings: [.define("SIMDJSON_EXCEPTIONS", to: "0")],  // errors are codes, not exceptions
      linkerSettings: [.linkedLibrary("simdjson")]),
    // simdjson in Swift.
    .target(name: "Simdjson", dependencies: ["CSimdjson"], swiftSettings: strict),
    // What Swift's Glibc module lacks.
    .target(name: "CLinux"),

    // What the server has to say: the files of the live page, which "make page-assets" lists anew for CPage.c; the
    // schemas of the API; and what takes the place of libmicrohttpd's own error pages.
    .target(
      name: "CPage", dependencies: ["CMicrohttpd"],
      exclude: ["jsconfig.json", "openapi.json", "package.json", "web"]),

    // The files of the folder migrations, and the commit that was built. The compiler notices a change; a new migration
    // is listed in CMigrations.c.
    .target(name: "CMigrations", cSettings: commit),

    // libcurl and libmosquitto, loaded when something first needs them. Only libcurl's headers are needed here.
    .target(name: "CLibcurl"),

    // What every module stands on: clocks, threads, descriptors, other programs, requests, compression, errors, and text
    // that is safe to print.
    .target(
      name: "Basics", dependencies: ["CCompression", "CLibcurl", "CLinux"], swiftSettings: strict),

    .target(
      name: "Postgres", dependencies: ["CLibpq", "Basics"],
      swiftSettings: strict),
    .target(
      name: "QuakeModel", dependencies: ["Basics"],
      swiftSettings: strict,
      linkerSettings: [.linkedLibrary("m")]),  // the standard library's floating point calls it
    .target(
      name: "QuakeFeed",
      dependencies: [
        "QuakeModel", "Basics", "Simdjson", "CExpat", "CSimdjson", "CCompression",
      ],
      swiftSettings: strict),
    // Writes events in the formats that other programs read.
    .target(name: "QuakeFormat", dependencies: ["QuakeModel"], swiftSettings: strict),
    // The private server of a user who names no database.
    .target(
      name: "EmbeddedPostgres", dependencies: ["Basics"],
      swiftSettings: unoptimisedInTests),
    .target(
      name: "QuakeSchema",
      dependencies: ["Postgres", "CMigrations", "QuakeModel", "Basics"],
      swiftSettings: unoptimisedInTests),
    .target(
      name: "QuakeHistory", dependencies: ["Postgres", "QuakeModel", "Basics"],
      swiftSettings: strict),
    // Queries of the events: lists, groups and statistics; batch edits; and which events of different sources are the
    // same earthquake.
    .target(
      name: "QuakeQuery",
      dependencies: ["QuakeHistory", "QuakeModel", "Postgres", "Basics"],
      swiftSettings: unoptimisedInTests),
    .target(
      name: "QuakeImport",
      dependencies: [
        "QuakeQuery", "QuakeFeed", "QuakeHistory", "Postgres", "QuakeModel", "Basics",
      ],
      swiftSettings: strict),
    .target(
      name: "QuakeWorker", dependencies: ["QuakeHistory", "Postgres", "QuakeModel", "Basics"],
      swiftSettings: unoptimisedInTests),
    // Consumers: what they owe, and the conversations about earthquakes.
    .target(
      name: "QuakeConsumers", dependencies: ["QuakeHistory", "QuakeModel", "Postgres", "Basics"],
      swiftSettings: unoptimisedInTests),
    // Delivers the messages of consumers: to commands, standard output, and receivers over the network.
    .target(
      name: "QuakeSinks",
      dependencies: [
        "QuakeConsumers", "QuakeModel", "CommandLine", "Basics", "Simdjson",
        "CLibcrypto", "CLibcurl",
      ],
      swiftSettings: unoptimisedInTests),
    // For other programs: the store with Swift concurrency. The other modules are `package`, but for its values.
    .target(
      name: "QuakeStore",
      dependencies: [
        "EmbeddedPostgres", "Basics", "QuakeConsumers", "QuakeImport", "Postgres", "QuakeFeed",
        "QuakeHistory", "QuakeModel", "QuakeQuery", "QuakeSchema",
      ], swiftSettings: unoptimisedInTests),
    // Follows the stream of changes of a server.
    .target(
      name: "QuakeClient",
      dependencies: ["QuakeModel", "Basics", "Simdjson", "CSimdjson"],
      swiftSettings: unoptimisedInTests),
    // The HTTP server: documents, streams of changes, and the services of this field.
    .target(
      name: "QuakeServer",
      dependencies: [
        "QuakeTool", "QuakeConsumers", "QuakeFormat", "QuakeQuery", "QuakeWorker", "QuakeHistory",
        "QuakeSchema", "QuakeModel", "Postgres", "CommandLine", "Basics", "CLinux",
        "CLibcrypto",
        "CMicrohttpd", "CPage",
      ],
      swiftSettings: unoptimisedInTests),
    .testTarget(
      name: "QuakeServerTests",
      dependencies: [
        "QuakeServer", "QuakeConsumers", "QuakeHistory", "QuakeModel", "Postgres", "Basics",
        "CommandLine", "TestSupport",
      ],
      exclude: ["Unit/Page"],
      swiftSettings: tests),
    // Imitates USGS's feeds, their revisions and their faults, for tests and demonstrations.
    .target(
      name: "QuakeSimulator",
      dependencies: ["QuakeModel", "Basics", "CMicrohttpd"],
      swiftSettings: unoptimisedInTests,
      linkerSettings: [.linkedLibrary("m")]),  // logarithms and sines
    .target(
      name: "CommandLine", dependencies: ["Basics", "CInih", "CLinux"],
      swiftSettings: unoptimisedInTests),
    .target(
      name: "QuakeTool",
      dependencies: [
        "CMigrations", "CommandLine", "EmbeddedPostgres", "QuakeSchema", "QuakeConsumers",
        "QuakeHistory", "QuakeQuery", "QuakeWorker", "QuakeModel", "Postgres", "Basics",
      ],
      swiftSettings: unoptimisedInTests),

    .executableTarget(
      name: "quake-ingest",
      dependencies: [
        "CLinux", "QuakeTool", "QuakeImport", "QuakeFeed", "QuakeSimulator", "QuakeWorker",
        "QuakeQuery", "QuakeHistory", "QuakeModel", "Postgres", "CommandLine", "Basics",
      ],
      swiftSettings: unoptimisedInTests, linkerSettings: tool),
    .executableTarget(
      name: "quake-watch",
      dependencies: [
        "Basics", "CLinux", "Postgres", "QuakeClient", "QuakeConsumers", "QuakeSinks", "QuakeTool",
        "QuakeWorker", "QuakeHistory", "EmbeddedPostgres", "QuakeModel", "CommandLine",
      ], swiftSettings: unoptimisedInTests, linkerSettings: tool),
    .executableTarget(
      name: "quake-query",
      dependencies: [
        "Basics", "QuakeTool", "QuakeFormat", "QuakeQuery", "QuakeHistory",
        "QuakeModel", "Postgres", "CommandLine",
      ],
      swiftSettings: unoptimisedInTests, linkerSettings: tool),
    .executableTarget(
      name: "quake-admin",
      dependencies: [
        "Basics", "QuakeTool", "QuakeConsumers", "QuakeImport", "QuakeFeed", "QuakeSchema",
        "QuakeWorker", "QuakeQuery", "QuakeHistory", "EmbeddedPostgres", "QuakeModel", "Postgres",
        "CommandLine",
      ],
      swiftSettings: unoptimisedInTests, linkerSettings: tool),

    .executableTarget(
      name: "quake-serve",
      dependencies: [
        "QuakeServer", "QuakeTool", "EmbeddedPostgres", "Postgres", "CommandLine",
        "Basics",
      ],
      swiftSettings: unoptimisedInTests, linkerSettings: tool),

    // The benchmark program, which is not installed.
    .executableTarget(
      name: "quake-bench",
      dependencies: [
        "CLinux", "Basics", "QuakeTool", "QuakeFeed", "QuakeSimulator", "QuakeSchema",
        "EmbeddedPostgres", "QuakeModel", "Postgres", "CommandLine",
      ],
      path: "Benchmarks",
      exclude: ["contenders/psycopg_copy.py"],
      swiftSettings: unoptimisedInTests, linkerSettings: tool),

    // What tests look at in a process of its own. Only the tests of the library depend on it, so that the others are not
    // compiled after it.
    .executableTarget(
      name: "test-probe", dependencies: ["CLinux", "CommandLine", "QuakeStore", "QuakeModel"],
      path: "Tests/TestProbe", swiftSettings: tests),
    .target(
      name: "TestSupport",
      dependencies: ["Basics", "CLinux", "EmbeddedPostgres", "Postgres", "QuakeSchema"],
      path: "Tests/TestSupport",
      swiftSettings: tests),
    .testTarget(
      name: "PostgresTests",
      dependencies: ["EmbeddedPostgres", "Postgres", "Basics", "TestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "QuakeStoreTests",
      dependencies: [
        "Basics", "QuakeSchema", "QuakeQuery", "QuakeHistory", "QuakeImport", "QuakeConsumers",
        "QuakeWorker", "QuakeModel", "EmbeddedPostgres", "Postgres", "TestSupport",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "QuakeLiveTests",
      dependencies: [
        "QuakeStore", "QuakeFeed", "QuakeImport", "QuakeSimulator", "EmbeddedPostgres",
        "QuakeQuery", "QuakeHistory", "QuakeModel", "Postgres", "Basics",
        "TestSupport", "test-probe",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "TestSupport", "QuakeStore", "QuakeSinks", "QuakeConsumers", "QuakeClient", "QuakeSchema",
        "QuakeSimulator", "QuakeModel", "EmbeddedPostgres", "Postgres", "CommandLine", "Basics",
      ],
      exclude: [
        "Association/USGS", "Consumers/receiver.py", "Page/Scenes", "Readers/read_exports.py",
        "Readers/read_services.py", "Readers/read_stream.py",
      ],
      swiftSettings: largestTests),
    // The guarantees of the change feed under load and faults.
    .testTarget(
      name: "ChangeFeedTests",
      dependencies: [
        "Basics", "TestSupport", "QuakeModel", "QuakeSchema", "EmbeddedPostgres", "Postgres",
        "CCompression", "test-probe",
      ],
      exclude: ["Consumers/unreliable_receiver.py"],
      swiftSettings: tests),
    .testTarget(
      name: "QuakeFeedTests",
      dependencies: [
        "QuakeFeed", "QuakeFormat", "QuakeSimulator", "QuakeModel", "Simdjson", "Basics",
        "TestSupport",
        "CCompression",
      ],
      swiftSettings: tests),
    // Values, the command line, and the parts of the tools that need no database.
    .testTarget(
      name: "UnitTests",
      dependencies: [
        "Basics", "CommandLine", "QuakeClient", "QuakeConsumers", "QuakeModel", "QuakeSinks",
        "QuakeTool", "TestSupport",
      ],
      swiftSettings: tests),
  ],
  cxxLanguageStandard: .cxx17
)

// What is fuzzed. The program is only in the build of `make fuzz`, because nothing else has the runtime of libFuzzer;
// otherwise the same files are a test of what the fuzzer begins with.
let fuzzed: [Target.Dependency] = [
  "QuakeServer", "QuakeTool", "QuakeSinks", "QuakeConsumers", "QuakeClient", "QuakeQuery",
  "QuakeHistory", "QuakeFormat",
  "QuakeFeed", "QuakeModel", "EmbeddedPostgres", "CommandLine", "Simdjson",
  "Basics",
]
if Context.environment["QUAKE_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "quake-fuzz", dependencies: fuzzed, path: "Tests/Fuzzing",
      exclude: ["SeedTests.swift"], swiftSettings: strict))
} else {
  package.targets.append(
    .testTarget(
      name: "Fuzzing", dependencies: fuzzed, exclude: ["main.swift", "Fuzzing.swift"],
      swiftSettings: tests))
}
