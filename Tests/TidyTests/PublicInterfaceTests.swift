// SPDX-License-Identifier: Apache-2.0

import Testing

/// Tests which types are available to programs that embed the libraries. All other types are `package`, so
/// that changes of them break no such program.
@Suite struct PublicInterfaceTests {
  /// The public types of each library. A type belongs here if a program needs it to read an export, a
  /// recorded session or a meter. A type for drivers or transports of programs belongs here, too.
  private static let types: [String: Set<String>] = [
    "Logbook": [
      "ClockComparison", "ControlRequest", "Decision", "Device", "DeviceIndex", "DeviceTime", "Failure",
      "FailureCategory", "FieldValue", "GlucoseCharacteristic", "GlucoseUnit", "ImportedRecord",
      "IngestBatch", "InputEnd",
      "LineSettings", "LinkOperation", "LogbookZone", "Measurement", "MeterConnection", "MeterContents",
      "MeterDriver", "MeterIdentity", "MeterLink", "MeterModel", "MeterPosition", "MeterReading",
      "MeterRecord",
      "OffsetSource", "Placement", "PositionKind", "Provenance", "Quantity", "Reading", "ReadingKind",
      "ReadingMarks", "RecordAccess",
      "RecordField", "RecordFields", "RecordKind", "RecordKindDescription", "Rejection", "Transport",
      "TransportError",
    ],
    "Formats": ["ExportFormatInfo", "ExportOptions", "InputReader", "FormatRegister", "RowFilter"],
    "Meters": ["DriverRegister", "ReplayedTransport", "Transcript"],
    "USBTransport": ["OpenTransport", "PluggedDevice", "USBBus"],
  ]

  /// Files of other modules in which a public type conforms to a public protocol. Only these conformances
  /// must be `public`.
  private static let conformances: Set<String> = [
    "Sources/CommandParts/StoreOptions.swift", "Sources/Commands/Records/Record/RecordCommands.swift",
  ]

  /// Files with public imports and nothing else that is public. The compiler inlines a function into another
  /// module only if what the function calls is from a public import.
  private static let inlined: Set<String> = [
    "Sources/SQLiteRows/RawStatement.swift", "Sources/SQLiteRows/StoredSeries.swift",
  ]

  @Test func onlyTheListedLibrariesHavePublicTypes() throws {
    let files = try SourceFile.all(in: "Sources").filter(\.isSwift)
    var found: [String: Set<String>] = [:]
    for file in files where !SourceRules.publicDeclarations(file).isEmpty {
      if Self.conformances.contains(file.path) { continue }
      if Self.inlined.contains(file.path), SourceRules.publicTypes(file).isEmpty { continue }
      found[file.room, default: []].formUnion(SourceRules.publicTypes(file))
    }
    #expect(found == Self.types)
  }

  /// The compiler (Swift 6.3) inlines no method of a `package` structure or class into other modules, unless
  /// the type itself is `@usableFromInline`. It does not warn.
  @Test func typesWithInlinableMethodsAreUsableFromInline() throws {
    let files = try SourceFile.all(in: "Sources").filter { Self.inliningRooms.contains($0.room) }
    #expect(files.flatMap(SourceRules.typesThatPreventInlining) == [])
  }

  /// The modules whose types are in the inner loops of imports, exports and syncs.
  private static let inliningRooms: Set<String> = ["Logbook", "SQLiteRows"]

  @Test func theSourceCheckFindsTypesThatPreventInlining() {
    let text = """
      @frozen package struct A {
        @inlinable package var one: Int { 1 }
      }
      package final class B {
        @inlinable @inline(__always) package func two() {}
      }
      @usableFromInline package struct C {
        @inlinable package var three: Int { 3 }
      }
      package struct D {
        package var four: Int { 4 }
      }
      @inlinable package func five() {}
      """
    let file = SourceFile("Sources/Logbook/A.swift", text)
    #expect(
      SourceRules.typesThatPreventInlining(file) == [
        "Sources/Logbook/A.swift:1", "Sources/Logbook/A.swift:4",
      ])
  }

  @Test func theSourceCheckFindsPublicTypesWithAnyModifiers() {
    let text = """
      public import Logbook
      @frozen public struct A {
        public let number: Int
      }
      public final class B {}
      package struct C {}
      extension A { public static func d() {} }
      public func e() {}
      """
    let file = SourceFile("Sources/Logbook/A.swift", text)
    #expect(SourceRules.publicTypes(file) == ["A", "B", "e"])
    #expect(SourceRules.publicDeclarations(file).count == 6)
    #expect(SourceRules.publicDeclarations(SourceFile("A.swift", "// public struct A\nlet a = 1")) == [])
  }
}
