// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The size of a batch at a moment, to which `rollback` can return.
struct Checkpoint {
  let readings: Int
  let records: Int
  let rejections: Int
  let skipped: [String: Int]
  let newestItem: Int64?
  let newestShown: Int64?
}

/// Collects the readings, records and rejections that a format reads for a batch. It computes the instants of
/// shown times, and assigns an index to each device.
struct BatchBuilder {
  var batch = IngestBatch()
  /// The number of bytes of rejected rows in the batch.
  var rejectedBytes = 0
  let format: String
  private var zone: LogbookZone
  private let times: PlausibleTimes
  private var devices = DeviceTable()
  private var newest: Int64?
  /// The newest time among the items whose instant depends on a zone, in UTC seconds. It is set only for a
  /// format whose other items state their instants.
  private var newestShown: Int64?
  /// The newest time among the items so far, in UTC seconds. It is the lower limit for the time of the
  /// export, since no export is older than its items. Items that state their instants take precedence over
  /// items whose instant depends on the zone of the import.
  var newestItem: Int64? { newest ?? newestShown }

  init(format: String, options: ExportOptions) {
    self.format = format
    zone = options.zone
    times = PlausibleTimes(now: options.now)
  }

  /// The index of a device whose model and serial are in these fields. A known device costs one comparison of
  /// bytes.
  @inline(__always)
  mutating func device(vendor: StaticString, model: Field, serial: Field) -> DeviceIndex {
    devices.index(vendor: vendor, model: model, serial: serial, format: format, in: &batch.devices)
  }

  mutating func device(_ device: Device) -> DeviceIndex { devices.index(of: device, in: &batch.devices) }

  /// The placement of a shown time in UTC: by the offset that it states, or else by the zone.
  @inline(__always)
  mutating func placement(of time: ShownTime) -> Placement {
    guard let offset = time.utcOffset else { return zone.placement(of: time.deviceTime) }
    return Placement(utcOffset: offset, source: time.isInstant ? .instant : .stated)
  }

  /// Adds a reading and marks it when its time cannot be right.
  ///
  /// - Parameter byClock: whether the reading's instant depends on a zone, in a format whose other items
  ///   state their instants.
  @inline(__always)
  mutating func add(_ reading: Reading, byClock: Bool = false) {
    var reading = reading
    if let utc = times.judge(&reading) {
      if byClock {
        newestShown = max(newestShown ?? utc, utc)
      } else if utc > newest ?? .min {
        newest = utc
      }
    }
    batch.readings.append(reading)
  }

  /// Adds a glucose or ketone cell as a reading that is identified by its time. An empty cell adds nothing.
  ///
  /// - Returns: whether the cell held a reading.
  @inline(__always) @discardableResult
  mutating func add(
    _ kind: ReadingKind, _ cell: CellValue, device: DeviceIndex, at time: ShownTime, marks: ReadingMarks = [],
    row: Row
  ) -> Bool {
    switch cell {
    case .measurement(let measurement):
      add(
        Reading(
          device: device, kind: kind, at: time.deviceTime, placement: placement(of: time), measurement,
          marks: marks,
          line: row.line))
      return true
    case .empty: return false
    case .rejected(let reason):
      reject(row, reason)
      return false
    }
  }

  /// Adds a record, unless it is larger than a record may be.
  mutating func add(_ record: ImportedRecord, byClock: Bool = false) {
    if let fault = record.fields.fault { return reject(line: record.line, fault) }
    let utc = record.deviceTime.seconds - Int64(record.placement.utcOffset)
    if times.contains(utc), byClock {
      newestShown = max(newestShown ?? utc, utc)
    } else if times.contains(utc), utc > newest ?? .min {
      newest = utc
    }
    batch.records.append(record)
  }

  /// Adds a record of this kind with these fields at a shown time.
  ///
  /// - Parameters:
  ///   - source: the program or device that the input names as its writer; see `Provenance.source`.
  ///   - isDeletedAtSource: see `ImportedRecord.isDeletedAtSource`.
  ///   - isIdentifiedByShownTime: see `ImportedRecord.isIdentifiedByShownTime`.
  mutating func add(
    _ kind: RecordKind, at time: ShownTime, owner: String, source: String = "", sourceID: String = "",
    isDeletedAtSource: Bool = false, isIdentifiedByShownTime: Bool = false, line: Int64,
    byClock: Bool = false, _ fields: [String: FieldValue]
  ) {
    var record = ImportedRecord(
      kind: kind, at: time.deviceTime, placement: placement(of: time), fields: RecordFields(fields),
      sourceID: sourceID, owner: owner, source: source, line: line)
    record.isDeletedAtSource = isDeletedAtSource
    record.isIdentifiedByShownTime = isIdentifiedByShownTime
    add(record, byClock: byClock)
  }

  /// Rejects a row. The reason holds none of the row's values.
  mutating func reject(_ row: Row, _ reason: String) {
    reject(row.rejection(reason))
  }

  /// Adds a rejection, for example one that a format held back until it had read later rows.
  mutating func reject(_ rejection: Rejection) {
    rejectedBytes += rejection.source.utf8.count
    batch.rejections.append(rejection)
  }

  mutating func reject(line: Int64, _ reason: String) {
    batch.rejections.append(Rejection(line: line, reason: reason))
  }

  /// The current size of the batch, for `rollback`.
  func mark() -> Checkpoint {
    Checkpoint(
      readings: batch.readings.count, records: batch.records.count, rejections: batch.rejections.count,
      skipped: batch.skipped, newestItem: newest, newestShown: newestShown)
  }

  /// Whether a row was rejected since `mark`, and no reading or record was added.
  func hasOnlyRejections(since mark: Checkpoint) -> Bool {
    batch.rejections.count > mark.rejections && batch.readings.count == mark.readings
      && batch.records.count == mark.records
  }

  /// Removes what a row added, when the row turned out to be truncated or to have too many cells.
  mutating func rollback(to mark: Checkpoint) {
    batch.readings.removeSubrange(mark.readings...)
    batch.records.removeSubrange(mark.records...)
    batch.rejections.removeSubrange(mark.rejections...)
    batch.skipped = mark.skipped
    (newest, newestShown) = (mark.newestItem, mark.newestShown)
  }

  /// Counts an item that glucoport has no kind for, or that holds no information.
  mutating func skip(_ name: String) { batch.skipped[name, default: 0] += 1 }
}

extension Row {
  /// A rejection of this row, with the row's text unless that is too long.
  func rejection(_ reason: String) -> Rejection {
    let isKept = source.count <= Rejection.maxSourceBytes
    return Rejection(
      line: line, reason: reason, source: isKept ? String(decoding: source, as: UTF8.self) : "")
  }
}

/// Distinguishes the devices of an input. The last devices are cached, since most inputs name the same few
/// devices again and again.
private struct DeviceTable {
  private struct Seen {
    let model: [UInt8]
    let serial: [UInt8]
    let index: DeviceIndex
  }

  private var recent: [Seen] = []
  private var last = 0
  private var all: [Device: DeviceIndex] = [:]

  @inline(__always)
  mutating func index(
    vendor: StaticString, model: Field, serial: Field, format: String, in devices: inout [Device]
  ) -> DeviceIndex {
    if last < recent.count, serial.hasSameBytes(as: recent[last].serial),
      model.hasSameBytes(as: recent[last].model)
    {
      return recent[last].index
    }
    return find(vendor: vendor, model: model, serial: serial, format: format, in: &devices)
  }

  private mutating func find(
    vendor: StaticString, model: Field, serial: Field, format: String, in devices: inout [Device]
  ) -> DeviceIndex {
    for place in recent.indices
    where serial.hasSameBytes(as: recent[place].serial) && model.hasSameBytes(as: recent[place].model) {
      last = place
      return recent[place].index
    }
    let device = Device(
      vendor: vendor.description, model: model.trimmed.text, serial: serial.trimmed.text, format: format)
    let index = index(of: device, in: &devices)
    if recent.count == 64 { recent.removeAll(keepingCapacity: true) }
    recent.append(Seen(model: Array(model.bytes), serial: Array(serial.bytes), index: index))
    last = recent.count - 1
    return index
  }

  mutating func index(of device: Device, in devices: inout [Device]) -> DeviceIndex {
    if let known = all[device] { return known }
    devices.append(device)
    let index = DeviceIndex(Int32(devices.count - 1))
    all[device] = index
    return index
  }
}
