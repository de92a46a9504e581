// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// An Accu-Chek Mobile, which shows its reports on a disk as text in `MODEL/Reports/*.csv`. Rows are newest
/// first, and `X` is a set flag, as in reports that people published.
///
/// These details of real meters are unknown and were chosen for the simulation:
/// - its USB ids
/// - the file system and its names
/// - the words HI and LO
/// - how the disk reports that it is not ready
package final class SimulatedAccuChekMobile: SimulatedMeter {
  /// The layout of the disk.
  package enum Layout: CaseIterable, Sendable {
    case small, partitioned
  }

  /// The columns of the report: ten as in 2015, or twelve as in 2016, with German names. Rows with twelve
  /// columns have one more semicolon at their end.
  package enum Columns: CaseIterable, Sendable {
    case ten, twelve
  }

  package let deviceDescriptor: [UInt8]
  package let configurationDescriptor = BuiltDescriptors.configuration([
    BuiltDescriptors.interface(
      class: (0x08, 0x06, 0x50),
      [
        BuiltDescriptors.Endpoint(address: 0x81, type: 2, size: 64),
        BuiltDescriptors.Endpoint(address: 0x02, type: 2, size: 64),
      ])
  ])
  package let strings: [String]
  package let disk: SimulatedBulkOnlyDisk

  /// - Parameter refusals: the number of commands that the disk refuses before it is ready.
  package init(
    _ memory: SimulatedMemory, vendorID: UInt16 = 0x173A, productID: UInt16 = 0x2198,
    layout: Layout = .small,
    columns: Columns = .ten, refusals: Int = 0
  ) {
    deviceDescriptor = BuiltDescriptors.device(vendorID: vendorID, productID: productID)
    strings = ["Roche", "Accu-Chek Mobile", memory.serial]
    let folders = [
      FATImage.Name(short: "ACCU-C~1", long: "Accu-Chek Mobile"),
      FATImage.Name(short: "REPORTS", long: "Reports"),
    ]
    disk = SimulatedBulkOnlyDisk(
      FATImage.sectors(
        layout == .small ? .small : .partitioned, folders: folders,
        file: FATImage.Name(short: "DIARYR~1.CSV", long: "DiaryReport.csv"),
        content: Array(Self.report(memory, columns).utf8), label: "ACCUCHEK"),
      vendor: "Roche", product: "Accu-Chek Mobile")
    disk.refusals = refusals
  }

  /// Whether the meter can store the item: glucose with the marks for meals, control solution and
  /// temperature. A report of ten columns has no columns for two of these marks. The meter shows no seconds.
  package static func holds(_ item: SimulatedItem) -> Bool {
    item.kind == .smbg && item.deviceTime.parts.second == 0
      && item.marks.isSubset(of: [
        .controlSolution, .beforeMeal, .afterMeal, .fasting, .bedtime, .temperatureWarning,
      ])
      && !item.marks.isSuperset(of: [.beforeMeal, .afterMeal])
  }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    disk.control(request)
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool { endpoint == 0x02 && disk.accept(packet) }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    endpoint == 0x81 ? disk.nextPacket(maxBytes: maxBytes) : .stall
  }
}

extension SimulatedAccuChekMobile {
  /// The text of the report.
  package static func report(_ memory: SimulatedMemory, _ columns: Columns = .ten) -> String {
    let (date, clock) = shown(memory.clock)
    // In a known report, 197 blanks follow the last column name.
    let head = [
      "Serial number;Download date;Download time;;;;;;;", "\(memory.serial);\(date);\(clock);;;;;;;",
      names(columns) + String(repeating: " ", count: 197),
    ]
    let rows = memory.items.filter(holds).reversed().map { row($0, unit: memory.unit, columns) }
    return (head + rows).map { $0 + "\r\n" }.joined()
  }

  private static func names(_ columns: Columns) -> String {
    switch columns {
    case .ten:
      "Date;Time;Result;Unit;Temperature warning;Out of target range;Other;Before meal;After meal;Control test"
    case .twelve:
      "Datum;Uhrzeit;Messwert;Einheit;Temperaturwarnung;Außerhalb Zielbereich;Sonstiges;Vor Mahlzeit;"
        + "Nach Mahlzeit;Nüchtern;Schlafenszeit;Funktionskontrolle"
    }
  }

  private static func row(_ item: SimulatedItem, unit: GlucoseUnit, _ columns: Columns) -> String {
    let (date, clock) = shown(item.deviceTime)
    let result =
      switch item.measurement {
      case .low: "LO"
      case .high: "HI"
      case .value(let quantity): quantity.displayed(in: unit)
      }
    let marks: [ReadingMarks?] =
      [.temperatureWarning, nil, nil, .beforeMeal, .afterMeal]
      + (columns == .twelve ? [.fasting, .bedtime] : []) + [.controlSolution]
    let flags = marks.map { mark in mark.map { item.marks.isSuperset(of: $0) } ?? false ? "X" : " " }
    let fields = [date, clock, result, unit.name.lowercased()] + flags
    return fields.joined(separator: ";") + (columns == .twelve ? ";" : "")
  }

  /// A time as `dd.mm.yyyy` and `HH:MM`.
  private static func shown(_ time: DeviceTime) -> (date: String, clock: String) {
    let parts = time.parts
    let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    return ("\(two(parts.day)).\(two(parts.month)).\(parts.year)", "\(two(parts.hour)):\(two(parts.minute))")
  }
}
