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
    "Sources/CommandParts/StoreOptions.swift", "Sources/Commands/Record/RecordAddCommand.swift",
  ]

  @Test func onlyTheListedLibrariesHavePublicTypes() throws {
    let files = try SourceFile.all(in: "Sources").filter(\.isSwift)
    var found: [String: Set<String>] = [:]
    for file in files where !SourceRules.publicDeclarations(file).isEmpty {
      if Self.conformances.contains(file.path) { continue }
      found[file.room, default: []].formUnion(SourceRules.publicTypes(file))
    }
    #expect(found == Self.types)
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
