// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Accu-Chek Mobile in its mode "Reports": a disk with a table of all readings, read by SCSI commands.
///
/// The disk is never mounted and never written. The meter's clock cannot be read. The report states when the
/// meter made it. It is unknown whether the meter makes a new report each time it is plugged in.
struct AccuChekMobileDriver: MeterDriver {
  static let id = "accu-chek-mobile"
  static let name = "Roche Accu-Chek Mobile (reports)"
  // The ids are from the public list of USB ids.
  static let models = [
    MeterModel("Accu-Chek Mobile", vendorID: 0x173A, productID: 0x2198, link: .disk),
    MeterModel("Accu-Chek Mobile U1", vendorID: 0x173A, productID: 0x21CA, link: .disk),
  ]

  init() {}

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    let (folder, report) = try find(meter)
    return identity(folder, report)
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let (folder, report) = try find(meter)
    var contents = MeterContents(identity(folder, report))
    try meter.onIdentity(contents.identity)
    contents.readings = report.readings
    contents.rejections = report.rejections
    contents.skipped = report.skipped
    if report.contradictoryMarks > 0 {
      let count = counted(report.contradictoryMarks, "reading is", "readings are")
      contents.warnings.append(
        "\(count) marked as before and after a meal: "
          + "the values are stored without either mark")
    }
    contents.readings.markClockSetBackInEitherOrder()
    meter.reportProgress(contents.readings.count, of: contents.readings.count)
    return contents
  }
}

extension AccuChekMobileDriver {
  private static let doing = "reading the report on the meter's disk"
  private static let maxReports = 32

  private func identity(_ folder: String, _ report: AccuChekReport) -> MeterIdentity {
    let model = folder.lowercased().hasPrefix("accu-chek") ? folder : "Accu-Chek Mobile \(folder)"
    return MeterIdentity(
      device: Device(vendor: "Roche", model: model, serial: report.serial, format: Self.id),
      count: report.readings.count)
  }

  /// The name of the model's folder, and the newest report in it.
  private func find(_ meter: MeterConnection) throws -> (String, AccuChekReport) {
    let disk = AccuChekDisk(meter, doing: Self.doing)
    try disk.wake()
    do {
      var volume = try FATVolume(disk)
      return try newestReport(on: &volume)
    } catch let error as FATError {
      throw Failure(
        .protocolViolation,
        "\(Self.doing): the disk's file system is damaged at \(error.part); plug the meter in again")
    }
  }

  private func newestReport(on volume: inout FATVolume<AccuChekDisk>) throws -> (String, AccuChekReport) {
    var newest: (folder: String, report: AccuChekReport)?
    var files = 0
    for model in try volume.root() where model.isFolder {
      for folder in try volume.contents(of: model) where folder.isFolder && folder.name == "REPORTS" {
        for file in try volume.contents(of: folder) where !file.isFolder && file.name.hasSuffix(".CSV") {
          files += 1
          guard files <= Self.maxReports else {
            throw Failure(.protocolViolation, "\(Self.doing): too many reports")
          }
          let report = try Self.report(file.name, try volume.read(file))
          if let known = newest?.report.madeAt, report.madeAt ?? known <= known { continue }
          newest = (model.longName ?? model.name, report)
        }
      }
    }
    guard let newest else {
      throw Failure(
        .unavailable,
        "\(Self.doing): there is no report; set the meter's USB mode to \"Reports\" and plug it in again")
    }
    return (newest.folder, newest.report)
  }
}

extension AccuChekMobileDriver {
  private static func report(_ name: String, _ bytes: [UInt8]) throws -> AccuChekReport {
    do {
      return try AccuChekReport(parsing: bytes)
    } catch {
      throw Failure(.protocolViolation, "\(doing): \(name): \(error.reason)")
    }
  }
}

/// The meter's disk, accessed only with SCSI commands that read.
private struct AccuChekDisk: SectorSource {
  /// The number of times that the disk is asked whether it is ready. After plug-in, the meter first writes
  /// its report, and refuses every command for an undocumented time.
  private static let attempts = 120
  private static let pauseMilliseconds = 250

  private let meter: MeterConnection
  private let doing: String

  init(_ meter: MeterConnection, doing: String) {
    self.meter = meter
    self.doing = doing
  }

  /// Waits until the disk is ready. After it was plugged in, the disk refuses commands until the host has
  /// requested the reason for a refusal.
  func wake() throws {
    for attempt in 0..<Self.attempts {
      // The first two refusals may only report that the disk was plugged in, so there is no pause after them.
      if attempt > 1 { meter.pause(Self.pauseMilliseconds) }
      do throws(TransportError) {
        _ = try meter.perform(.command([0, 0, 0, 0, 0, 0], reads: 0), within: 5000)
        return
      } catch .stalled {
        _ = try perform(.command([0x03, 0, 0, 0, 18, 0], reads: 18))
      } catch {
        throw Failure(error, doing: doing)
      }
    }
    throw Failure(
      .unavailable,
      "\(doing): the disk was not ready after \(Self.attempts * Self.pauseMilliseconds / 1000) seconds; "
        + "plug the meter in again")
  }

  func read(_ number: Int, count: Int) throws -> [UInt8] {
    guard let start = UInt32(exactly: number), let sectors = UInt16(exactly: count) else {
      throw FATError(part: "a sector's number")
    }
    let bytes = try perform(
      .command([0x28, 0] + start.bigEndianBytes + [0] + sectors.bigEndianBytes + [0], reads: count * 512))
    guard bytes.count == count * 512 else {
      throw Failure(.protocolViolation, "\(doing): the disk sent too little")
    }
    return bytes
  }

  private func perform(_ exchange: LinkOperation) throws -> [UInt8] {
    do {
      return try meter.perform(exchange, within: 10_000)
    } catch {
      throw Failure(error, doing: doing)
    }
  }
}
