// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// An Accu-Chek Mobile that shows its reports on a disk: text in `MODEL/Reports/*.csv`.
///
/// Chosen where nothing is known: its USB ids [?], the file system and the names in it [?], the labels of the first line
/// [?], that rows are newest first [?], the words HI and LO [?], and `X` for a flag that is set [B].
package final class SimulatedAccuChekMobile: SimulatedMeter {
  /// How the disk is laid out.
  package enum Layout: CaseIterable, Sendable {
    case small, partitioned
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

  /// The names of the columns; the last is followed by 197 blanks.
  private static let columns =
    "Date;Time;Result;Unit;Temperature warning;Out of target range;Other;Before meal;After meal;Control test"

  package init(
    _ memory: SimulatedMemory, vendorID: UInt16 = 0x173A, productID: UInt16 = 0x2198, layout: Layout = .small
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
        content: Array(Self.report(memory).utf8), label: "ACCUCHEK"),
      vendor: "Roche", product: "Accu-Chek Mobile")
  }

  /// Glucose with the marks for meals, control solution and temperature; the meter shows no seconds.
  package static func holds(_ item: SimulatedItem) -> Bool {
    item.kind == .smbg && item.deviceTime.parts.second == 0
      && item.marks.isSubset(of: [.controlSolution, .beforeMeal, .afterMeal, .temperatureWarning])
      && !item.marks.isSuperset(of: [.beforeMeal, .afterMeal])
  }

  package func control(_ request: ControlRequest, most: Int, data: [UInt8]) -> ControlAnswer {
    disk.control(request)
  }

  package func take(_ packet: [UInt8], endpoint: UInt8) -> Bool { endpoint == 0x02 && disk.take(packet) }

  package func give(endpoint: UInt8, most: Int) -> PacketAnswer {
    endpoint == 0x81 ? disk.give(most: most) : .stall
  }
}

extension SimulatedAccuChekMobile {
  /// The text of the report.
  package static func report(_ memory: SimulatedMemory) -> String {
    let (date, clock) = shown(memory.clock)
    let head = [
      "Serial number;Download date;Download time;;;;;;;", "\(memory.serial);\(date);\(clock);;;;;;;",
      columns + String(repeating: " ", count: 197),
    ]
    let rows = memory.items.filter(holds).reversed().map { row($0, unit: memory.unit) }
    return (head + rows).map { $0 + "\r\n" }.joined()
  }

  private static func row(_ item: SimulatedItem, unit: GlucoseUnit) -> String {
    let (date, clock) = shown(item.deviceTime)
    let result =
      switch item.measurement {
      case .low: "LO"
      case .high: "HI"
      case .value(let quantity): quantity.displayed(in: unit)
      }
    let flags = [
      item.marks.contains(.temperatureWarning), false, false, item.marks.contains(.beforeMeal),
      item.marks.contains(.afterMeal), item.marks.contains(.controlSolution),
    ]
    return ([date, clock, result, unit.name.lowercased()] + flags.map { $0 ? "X" : " " }).joined(
      separator: ";")
  }

  /// `dd.mm.yyyy` and `HH:MM`.
  private static func shown(_ time: DeviceTime) -> (date: String, clock: String) {
    let parts = time.parts
    let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    return ("\(two(parts.day)).\(two(parts.month)).\(parts.year)", "\(two(parts.hour)):\(two(parts.minute))")
  }
}
