// SPDX-License-Identifier: Apache-2.0
// Prints the readings of an export, or of a recorded meter session, without a store:
//   swift run embedding FILE [ZONE]

import Formats
import Foundation
import Logbook
import Meters

func show(_ time: DeviceTime, _ kind: ReadingKind, _ measurement: Logbook.Measurement) {
  let value = measurement.quantity.map { "\($0.number)" } ?? "beyond the range"
  print(time.text, kind.name, value, measurement.unit.name)
}

let path = CommandLine.arguments[1]
if path.hasSuffix(".transcript") {
  let transcript = try Transcript(bytes: Array(Data(contentsOf: URL(filePath: path))), named: path)
  let (driver, meter) = try transcript.replay(named: path)
  for reading in try driver.init().read(meter).readings {
    show(reading.deviceTime, reading.kind, reading.measurement)
  }
} else {
  let zone = try LogbookZone(name: CommandLine.arguments.dropFirst(2).first ?? "UTC")
  let now = Int64(Date().timeIntervalSince1970)
  var reader = try InputReader(path: path, options: ExportOptions(zone: zone, now: now))
  var batch = IngestBatch()
  while try reader.read(into: &batch) || !batch.isEmpty {
    for reading in batch.readings { show(reading.deviceTime, reading.kind, reading.measurement) }
    for rejection in batch.rejections { print("line \(rejection.line): \(rejection.reason)") }
    batch.removeItems()
  }
}
