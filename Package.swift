// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Warnings are errors only in checks of this project. Warnings of a later compiler must not stop other
// builds.
let warnings: [SwiftSetting] = Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]

let settings: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + warnings

// Whether Tests/compiler.sh builds the package for a check.
let checked = Context.environment["GLUCOPORT_CHECK"] != nil

// In checks, the targets in which tests spend the most time are optimised, with the assertions of a debug
// build. Compiling them then takes one and a half minutes of processor time more, and the tests take three
// minutes less. `CI` does not decide this, since builds of programs that depend on this package may set it,
// too. Tests/compiler.sh compiles with -Onone, and only the frontend accepts -O in addition.
let busy: [SwiftSetting] =
  settings + (checked ? [.unsafeFlags(["-Xfrontend", "-O", "-assert-config", "Debug"])] : [])

// Only needed to generate the documentation of the libraries: `GLUCOPORT_DOCUMENTATION=1 swift package
// generate-documentation`.
let documentation: [Package.Dependency] =
  Context.environment["GLUCOPORT_DOCUMENTATION"] == nil
  ? [] : [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")]

// Whether Tests/fuzz.sh builds the package. It links the target Fuzz with libFuzzer, which contains the
// `main` of the program.
let fuzzed = Context.environment["GLUCOPORT_FUZZ"] != nil

let package = Package(
  name: "glucoport",
  products: [
    .executable(name: "glucoport", targets: ["glucoport"]),
    // Libraries with which other programs read exports and meters, without a store. Samples/embedding shows
    // how.
    .library(name: "Logbook", targets: ["Logbook"]),
    .library(name: "Formats", targets: ["Formats"]),
    .library(name: "Meters", targets: ["Meters", "USBTransport"]),
  ] + (fuzzed ? [.library(name: "Fuzz", type: .static, targets: ["Fuzz"])] : []),
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    // Hummingbird's traits are off: they add configuration files, and more of Foundation than it needs.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
  ] + documentation,
  targets: [
    // The rooms (modules), the bottom row first. A target imports only targets of lower rows.
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CBZip2", providers: [.apt(["libbz2-dev"])]),
    .systemLibrary(name: "CExpat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CLZMA", providers: [.apt(["liblzma-dev"])]),
    .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CLibUSB", pkgConfig: "libusb-1.0", providers: [.apt(["libusb-1.0-0-dev"])]),
    .target(
      name: "Logbook",
      dependencies: ["CZlib", .product(name: "Crypto", package: "swift-crypto")],
      swiftSettings: busy
    ),
    .target(name: "LogbookAPI", dependencies: ["Logbook", "CZlib"], swiftSettings: settings),
    .target(name: "Nightscout", dependencies: ["Logbook"], swiftSettings: settings),
    .target(name: "TemporaryFiles", dependencies: ["Logbook"], swiftSettings: settings),
    .target(
      name: "Archives",
      dependencies: [
        "Logbook", "CBZip2", "CExpat", "CLZMA", "CZlib", "CZstd",
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: busy),
    .target(
      name: "Formats", dependencies: ["Archives", "Logbook", "Nightscout", "TemporaryFiles"],
      swiftSettings: busy),
    .target(name: "Meters", dependencies: ["Logbook"], swiftSettings: settings),
    .target(name: "USBTransport", dependencies: ["Logbook", "CLibUSB"], swiftSettings: settings),
    .target(name: "BluetoothTransport", dependencies: ["Logbook"], swiftSettings: settings),
    .target(
      name: "SQLiteRows",
      dependencies: [
        "Logbook",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "LogbookStore",
      dependencies: [
        "Logbook", "SQLiteRows", "TemporaryFiles",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "HeapModule", package: "swift-collections"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "Remotes",
      dependencies: [
        "Logbook", "LogbookAPI", "Nightscout",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Subprocess", package: "swift-subprocess"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "ServerStore",
      dependencies: [
        "Logbook", "LogbookAPI", "SQLiteRows",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "PostgresStore", dependencies: ["Logbook", "LogbookAPI"], swiftSettings: settings),
    .target(
      name: "LogbookServer",
      dependencies: [
        "Logbook", "LogbookAPI",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "Ingest", dependencies: ["Logbook", "Formats", "LogbookStore", "Meters"],
      swiftSettings: settings),
    .target(
      name: "Sync", dependencies: ["Logbook", "LogbookAPI", "LogbookStore"],
      swiftSettings: settings),
    .target(name: "PDF", dependencies: ["CZlib", "Logbook"], swiftSettings: settings),
    .target(
      name: "Report",
      dependencies: ["Logbook", "PDF", .product(name: "Mustache", package: "swift-mustache")],
      swiftSettings: settings),
    .target(
      name: "Doctor", dependencies: ["CLinux", "Logbook", "LogbookStore"], swiftSettings: settings),
    .target(
      name: "CommandParts",
      dependencies: [
        "CLinux", "Logbook", "Formats", "LogbookStore", "Meters", "Remotes", "BluetoothTransport",
        "USBTransport",
        "Ingest", "Sync", "Report", "TemporaryFiles",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "LookCommands",
      dependencies: [
        "CommandParts", "Logbook", "Formats", "LogbookStore", "Meters", "Remotes", "BluetoothTransport",
        "USBTransport", "Report", "Doctor",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "Commands",
      dependencies: [
        "CommandParts", "Logbook", "LogbookAPI", "Formats", "LogbookStore", "Meters", "Nightscout",
        "PostgresStore", "Remotes", "ServerStore",
        "BluetoothTransport", "USBTransport", "Ingest", "Sync", "LogbookServer", "Report", "Doctor",
        "TemporaryFiles",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "glucoport",
      dependencies: [
        "CommandParts", "Commands", "Logbook", "LogbookStore", "LookCommands", "USBTransport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),

    // Servers on loopback for several test suites, with faults that a test chooses.
    .target(name: "TestServers", path: "Tests/TestServers", swiftSettings: settings),

    // Random numbers that depend only on a seed, for all test suites.
    .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: settings),

    // The rules that every service and every storage of a server must obey.
    .target(
      name: "ServiceConformance", dependencies: ["Logbook", "LogbookAPI", "SeededRandom"],
      path: "Tests/ServiceConformance", swiftSettings: settings),

    .testTarget(
      name: "TestServersTests", dependencies: ["TestServers"], exclude: ["Exchanges"], swiftSettings: settings
    ),

    .testTarget(
      name: "LogbookTests", dependencies: ["Logbook", "SeededRandom", "TestArchives"], swiftSettings: settings
    ),
    // The rules that every format must obey with its samples, for the tests of each room with formats.
    .target(
      name: "FormatConformance", dependencies: ["Formats", "Logbook", "TestArchives"],
      path: "Tests/FormatConformance",
      swiftSettings: settings),
    // Writes archives for tests, including archives that must be refused.
    .target(
      name: "TestArchives",
      dependencies: ["CZlib", "Logbook", .product(name: "GRDBSQLite", package: "GRDB.swift")],
      path: "Tests/TestArchives", swiftSettings: settings),
    .testTarget(
      name: "ArchivesTests",
      dependencies: ["Archives", "CBZip2", "CLZMA", "CZstd", "Logbook", "SeededRandom", "TestArchives"],
      swiftSettings: settings),
    .testTarget(
      name: "FormatsTests",
      dependencies: [
        "Archives", "FormatConformance", "Formats", "Logbook", "Nightscout", "SeededRandom", "TestArchives",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "NightscoutTests", dependencies: ["Formats", "Logbook", "Nightscout", "SeededRandom"],
      swiftSettings: settings),
    .testTarget(
      name: "LogbookStoreTests",
      dependencies: [
        "Logbook", "LogbookStore", "SQLiteRows", "SeededRandom",
        .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "RemotesTests",
      dependencies: [
        "Logbook", "LogbookAPI", "LogbookServer", "Nightscout", "Remotes", "SeededRandom", "ServerStore",
        "ServiceConformance", "TestServers", .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "LogbookAPITests", dependencies: ["LogbookAPI", "Logbook", "SeededRandom"],
      swiftSettings: settings),
    .testTarget(
      name: "LogbookServerTests",
      dependencies: [
        "Logbook", "LogbookAPI", "LogbookServer", "ServerStore",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "ServerStoreTests",
      dependencies: [
        "Logbook", "LogbookAPI", "ServerStore", "ServiceConformance",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings
    ),
    // A PostgreSQL server in a temporary folder, with a database for each test.
    .target(
      name: "TestPostgres", dependencies: ["Logbook", "PostgresStore"], path: "Tests/TestPostgres",
      swiftSettings: settings),
    .testTarget(
      name: "PostgresStoreTests",
      dependencies: [
        "Logbook", "LogbookAPI", "PostgresStore", "SeededRandom", "ServerStore", "ServiceConformance",
        "TestPostgres",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "SyncTests",
      dependencies: [
        "Logbook", "LogbookAPI", "LogbookStore", "Remotes", "SeededRandom", "ServerStore",
        "ServiceConformance",
        "Sync", "Simulation", "TestServers",
      ],
      swiftSettings: settings),
    // Simulates nodes and a server with all kinds of faults: a library for the tests, and a program for long
    // runs.
    .target(
      name: "Simulation",
      dependencies: [
        "Logbook", "LogbookAPI", "LogbookStore", "Remotes", "SeededRandom", "ServerStore", "Sync",
        "PostgresStore", "TestPostgres", "TestServers",
        .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      path: "Tests/Simulation", swiftSettings: settings),
    .executableTarget(
      name: "simulate", dependencies: ["Simulation"], path: "Tests/Simulate", swiftSettings: settings),
    .testTarget(
      name: "IngestTests",
      dependencies: [
        "FormatConformance", "Formats", "Ingest", "Logbook", "LogbookStore", "Meters", "SeededRandom",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "PDFTests", dependencies: ["CZlib", "Logbook", "PDF", "SeededRandom"], swiftSettings: settings),
    .testTarget(
      name: "ReportTests", dependencies: ["Logbook", "PDF", "Report", "SeededRandom"], swiftSettings: settings
    ),
    .testTarget(
      name: "DoctorTests",
      dependencies: [
        "Doctor", "Logbook", "LogbookStore", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings),
    // Runs the built program in a separate folder, makes exports for it to import, and reads its store with
    // SQLite.
    .target(
      name: "TestProgram",
      dependencies: [
        "Logbook", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Subprocess", package: "swift-subprocess"),
      ],
      path: "Tests/TestProgram", swiftSettings: settings),
    .testTarget(
      name: "CommandsTests",
      dependencies: [
        "glucoport", "embedding", "CommandParts", "Commands", "LookCommands", "Doctor", "Formats", "Logbook",
        "LogbookStore", "Meters",
        "Remotes", "Report", "SeededRandom", "SimulatedMeters", "SimulatedUSB", "Sync", "TemporaryFiles",
        "TestProgram", "USBTransport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings
    ),
    // Tests of the built program, also with a server of ours or a Nightscout site. They do not depend on the
    // target glucoport, so that they need not wait for Commands. CommandsTests depends on it, so that a build
    // of the tests also builds the program.
    .testTarget(
      name: "ProgramTests",
      dependencies: [
        "Logbook", "Meters", "SeededRandom", "SimulatedBluetooth", "SimulatedMeters", "SimulatedUSB",
        "TestArchives", "TestProgram",
        .product(name: "Subprocess", package: "swift-subprocess"),
      ],
      exclude: ["Stats"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "ProgramRemoteTests",
      dependencies: [
        "Logbook", "LogbookAPI", "SeededRandom", "TestPostgres", "TestProgram", "TestServers",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings
    ),
    // Simulated meters as a USB bus sees them, for tests of the drivers and of the whole program.
    .target(
      name: "SimulatedMeters", dependencies: ["Logbook"], path: "Tests/SimulatedMeters",
      swiftSettings: settings),
    // A simulated bus and host for these meters. They work in this process and, by umockdev's library, for
    // programs under test.
    .target(
      name: "SimulatedUSB", dependencies: ["Logbook", "SimulatedMeters", "USBTransport"],
      path: "Tests/SimulatedUSB", swiftSettings: settings),
    // The rules that every driver must obey with its simulated meters, for the tests of each room with
    // drivers.
    .target(
      name: "MeterConformance", dependencies: ["Logbook", "Meters", "SimulatedMeters", "SimulatedUSB"],
      path: "Tests/MeterConformance", swiftSettings: settings),
    .testTarget(
      name: "MetersTests",
      dependencies: [
        "Logbook", "MeterConformance", "Meters", "SeededRandom", "SimulatedMeters", "SimulatedUSB",
      ],
      swiftSettings: settings),
    // Performs the exchanges that its arguments state. The tests of the transports run it under umockdev.
    .executableTarget(
      name: "usb-probe", dependencies: ["Logbook", "USBTransport"], path: "Tests/USBProbe",
      swiftSettings: settings),
    .testTarget(
      name: "USBTransportTests",
      dependencies: ["Logbook", "SimulatedMeters", "SimulatedUSB", "USBTransport", "usb-probe"],
      swiftSettings: settings),
    // A D-Bus with a simulated bluetoothd, for the tests of the transport and of the whole program.
    .target(name: "SimulatedBluetooth", path: "Tests/SimulatedBluetooth", swiftSettings: settings),
    .testTarget(
      name: "BluetoothTransportTests",
      dependencies: ["BluetoothTransport", "Logbook", "Meters", "SimulatedBluetooth"],
      swiftSettings: settings),
    // Runs a command with a simulated meter plugged in, for Tests/Benchmarks/meter.sh and for experiments.
    .executableTarget(
      name: "meter-plug", dependencies: ["Logbook", "Meters", "SimulatedMeters", "SimulatedUSB"],
      path: "Tests/MeterPlug", swiftSettings: settings),
    // Runs the binary with every simulated meter through the kernel's own USB stack; see Tests/usb-guest.sh.
    .executableTarget(
      name: "usb-guest",
      dependencies: ["Logbook", "Meters", "SimulatedMeters", "SimulatedUSB", "USBTransport"],
      path: "Tests/USBGuest", swiftSettings: settings),
    // The program of Samples/embedding, which has a separate package, built here for the tests.
    .executableTarget(
      name: "embedding", dependencies: ["Formats", "Logbook", "Meters"],
      path: "Samples/embedding/Sources/embedding", swiftSettings: settings),
    // Tests that all parsers of files, requests and answers take linear time.
    .testTarget(
      name: "ParsingTests",
      dependencies: [
        "Archives", "FormatConformance", "Formats", "Logbook", "LogbookAPI", "Meters", "Nightscout",
        "SeededRandom", "TestArchives",
      ],
      swiftSettings: settings),
    .testTarget(name: "TidyTests", swiftSettings: settings),
  ]
    // With this target, SwiftPM finds Tests/Start/XCTMain.swift. It exists only in checks, since 'swift test'
    // would start no test with that file.
    + (checked
      ? [.testTarget(name: "StartTests", path: "Tests/Start/StartTests", swiftSettings: settings)] : [])
    + (fuzzed
      ? [
        .target(
          name: "Fuzz", dependencies: ["Formats", "Logbook", "TemporaryFiles", "TestArchives"],
          path: "Tests/Fuzz", exclude: ["seeds.py", "sheet.dict", "xml.dict"], swiftSettings: settings)
      ] : [])
)
