// SPDX-License-Identifier: Apache-2.0

package import Logbook
import Testing

/// Readings as rows of glucoport's own CSV.
package struct ReadingRows: Sendable {
  package private(set) var csv =
    "item,kind,time,device_time,utc_offset,offset_source,value,unit,range,threshold,marks,vendor,model,serial,format,position_kind,position,value_bucket,occurrence,guid,entry_guid,fields,deleted\n"

  package init() {}

  package mutating func add(
    _ kind: ReadingKind, _ value: String, _ unit: String = "mg/dL", at shown: String, plus seconds: Int64 = 0,
    offset: Int64 = 0, occurrence: Int = 0, range: String = "", marks: String = "", serial: String = "S"
  ) {
    let time = DeviceTime(seconds: (DeviceTime(text: shown)?.seconds ?? 0) + seconds)
    let instant = DeviceTime(seconds: time.seconds - offset)
    let number = Double(value) ?? 0
    let quantity = Quantity(number, GlucoseUnit(name: unit) ?? .milligramsPerDecilitre)
    let bucket =
      kind == .cbg ? 0 : range == "low" ? -1 : range == "high" ? -2 : quantity.tenthsOfMillimole
    csv +=
      "reading,\(kind.name),\(instant.text)Z,\(time.text),\(DeviceTime.offsetText(Int32(offset))),stated,\(value),\(unit),\(range),,\(marks),Vendor,Meter,\(serial),f,time,\(time.seconds),\(bucket),\(occurrence),,,,\n"
  }

  /// A program whose store has finger sticks of two meters: 100 mg/dL on 2026-03-02 and 200 on 2026-03-03.
  package static func sticks() async throws -> Program {
    let program = try Program()
    var rows = ReadingRows()
    rows.add(.smbg, "100", at: "2026-03-02T08:00", serial: "A-1")
    rows.add(.smbg, "200", at: "2026-03-03T08:00", serial: "B-2")
    try program.write(rows.csv, to: "rows.csv")
    let imported = try await program.run("import", "--quiet", "--timezone", "UTC", program.path("rows.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    return program
  }

  /// Samples of a sensor at a fixed interval of minutes, with rising and falling values.
  package mutating func addSamples(
    _ count: Int64, every minutes: Int64, from shown: String, plus start: Int64 = 0, offset: Int64 = 0,
    serial: String = "S", base: Int = 120
  ) {
    for index in 0..<count {
      let value = base + Int(index * 7 % 90) - 30
      add(
        .cbg, "\(value)", at: shown, plus: start + index * minutes * 60, offset: offset, serial: serial)
    }
  }
}
