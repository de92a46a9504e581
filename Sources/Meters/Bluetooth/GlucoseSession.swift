// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The notifications of one transfer, without repetitions.
struct GlucoseTransfer: Hashable {
  /// Notifications of the characteristic Glucose Measurement (2A18), in the order of their arrival.
  private(set) var measurements: [[UInt8]] = []
  /// Notifications of the characteristic Glucose Measurement Context (2A34): meal, health and medication of
  /// a measurement.
  private(set) var contexts: [[UInt8]] = []

  private var known: Set<[UInt8]> = []

  /// The maximum number of measurements, since sequence numbers have 16 bits.
  private static let maxCount = 65536

  mutating func addMeasurement(_ bytes: [UInt8]) throws(Failure) {
    guard known.insert(bytes).inserted else { return }
    measurements.append(bytes)
    try requireCountable(measurements)
  }

  mutating func addContext(_ bytes: [UInt8]) throws(Failure) {
    guard known.insert([0] + bytes).inserted else { return }
    contexts.append(bytes)
    try requireCountable(contexts)
  }

  private func requireCountable(_ list: [[UInt8]]) throws(Failure) {
    guard list.count <= Self.maxCount else {
      throw Failure(.protocolViolation, "reading the records: the meter sent more records than it can number")
    }
  }
}

/// The session with a meter by the Bluetooth Glucose Profile 1.0.1.
struct GlucoseSession {
  private enum Event {
    case measurement([UInt8])
    case context([UInt8])
    case answer([UInt8])
  }

  /// The time without a notification after which a transfer has failed (profile, section 5.5).
  private static let silenceMilliseconds = 30_000
  private static let requestMilliseconds = 10_000
  /// The timeout for records that come without a request. The TRUE METRIX AIR sends its records as soon as
  /// notifications are on.
  private static let unaskedMilliseconds = 1000
  /// For records without a request: the time of silence after which they are complete, since no message marks
  /// their end. Such records arrive milliseconds apart.
  private static let endOfStreamMilliseconds = 10_000

  private let meter: MeterConnection

  init(_ meter: MeterConnection) { self.meter = meter }

  /// The identity of the meter with its clock, and the maker.
  func identity() throws -> (MeterIdentity, GlucoseMaker) {
    let doing = "asking the meter for its identity"
    let name = try text(.name, doing) ?? ""
    let maker = GlucoseMaker(maker: try text(.maker, doing) ?? "", name: name)
    let model = try text(.model, doing) ?? ""
    let serial = try text(.serial, doing) ?? ""
    guard !serial.isEmpty || !name.isEmpty else {
      throw Failure(.protocolViolation, "\(doing): it states neither a serial number nor a name")
    }
    let digits = name.filter { $0.isASCII && $0.isNumber }
    let stated = serial.isEmpty ? name.hasPrefix("meter+") ? digits : name : serial
    let clock = try clock()
    let identity = MeterIdentity(
      device: Device(
        vendor: maker.vendor, model: maker.product(model), serial: stated, format: BluetoothGlucoseDriver.id),
      firmware: try text(.firmware, doing) ?? "", clock: clock.map(meter.compareClock))
    return (identity, maker)
  }

  /// The time on the clock; nil without one. Meters by Roche state it in the characteristic Date Time, which
  /// begins with the same bytes as Current Time.
  ///
  /// It is not certain whether meters send the shown or the internal time; see `GlucoseMemory.shown`.
  private func clock() throws -> DeviceTime? {
    let doing = "asking the meter for its clock"
    let bytes = try value(.currentTime, doing) ?? value(.dateTime, doing)
    return bytes.flatMap(DeviceTime.init(currentTime:))
  }

  /// The bits of Glucose Feature; nil if the meter does not state them.
  func features() throws -> UInt16? {
    try value(.feature, "asking the meter what it supports")?.littleEndian(UInt16.self, at: 0)
  }

  /// The records from a position on, or all of them. There is a warning if the meter announced a wrong number
  /// of records.
  ///
  /// If fewer records arrive than announced, they are read again. If the same records arrive twice, the
  /// announced number is wrong; otherwise, records were lost.
  func records(
    from position: MeterPosition?
  ) throws -> (transfer: GlucoseTransfer, isAll: Bool, warning: String?) {
    try subscribe()
    let unasked = try unaskedRecords()
    if unasked.measurements.isEmpty, let position, let transfer = try newRecords(from: position) {
      return (transfer, false, nil)
    }
    let (transfer, warning) = try allRecords(unasked)
    return (transfer, true, warning)
  }

  private func allRecords(
    _ unasked: GlucoseTransfer
  ) throws -> (transfer: GlucoseTransfer, warning: String?) {
    guard let count = try count(.countAll, mayBeSilent: !unasked.measurements.isEmpty) else {
      return (unasked, nil)
    }
    var first: GlucoseTransfer?
    for _ in 0..<2 {
      guard let transfer = try report(.reportAll, of: count.number) else { continue }
      guard let number = count.number, transfer.measurements.count < number else { return (transfer, nil) }
      if first == transfer {
        return (transfer, "the meter announced \(number) records and sent \(transfer.measurements.count)")
      }
      first = transfer
    }
    throw Failure(
      .protocolViolation, "reading the records: some of them were lost; bring the meter near and retry")
  }

  /// The records from a position on, beginning with the known record at this position. Nil if all records
  /// must be read. Then the meter lacks the known record, has another record with its number, or cannot send
  /// records from a number on.
  private func newRecords(from position: MeterPosition) throws -> GlucoseTransfer? {
    guard let number = UInt16(exactly: position.number),
      let count = try count(.countFrom(number), mayBeSilent: false)?.number, count > 0,
      let transfer = try report(.reportFrom(number), of: count),
      transfer.measurements.count >= count,
      let first = transfer.measurements.first
    else { return nil }
    do throws(MalformedNotification) {
      // The offset may be left out if it did not change, but not in the first record of a transfer.
      let known = try GlucoseMeasurement(first)
      guard known.sequence == number, known.mark(offsetMinutes: known.offsetMinutes ?? 0) == position.mark
      else { return nil }
      var last = number
      for bytes in transfer.measurements.dropFirst() {
        let next = try GlucoseMeasurement(bytes).sequence
        guard next > last else { return nil }
        last = next
      }
    } catch {
      return nil
    }
    return transfer
  }
}

extension GlucoseSession {
  /// A characteristic's text without blanks and zero bytes around it; nil if the meter does not have it.
  private func text(_ characteristic: GlucoseCharacteristic, _ doing: String) throws -> String? {
    guard let bytes = try value(characteristic, doing) else { return nil }
    let text = String(decoding: bytes.prefix { $0 != 0 }.prefix(128), as: UTF8.self)
    return String(text.filter { !$0.unicodeScalars.contains { $0.properties.generalCategory == .control } })
      .trimmingBlanks
  }

  /// The value of a characteristic; nil if the meter does not have it.
  private func value(_ characteristic: GlucoseCharacteristic, _ doing: String) throws -> [UInt8]? {
    do throws(TransportError) {
      return try meter.perform(.readValue(characteristic), within: Self.requestMilliseconds)
    } catch .unsupported {
      return nil
    } catch {
      throw Failure(bluetooth: error, doing: doing)
    }
  }

  /// Turns on the indications and notifications of all characteristics before the first request, as the
  /// standard requires.
  private func subscribe() throws {
    let doing = "turning on the meter's notifications"
    for characteristic in [GlucoseCharacteristic.context, .measurement, .recordAccess] {
      do throws(TransportError) {
        _ = try meter.perform(.subscribe(characteristic), within: Self.requestMilliseconds)
      } catch .unsupported where characteristic == .context {
        // Some meters do not have the characteristic for contexts.
      } catch .unsupported {
        throw Failure(.unavailable, "\(doing): the device has no glucose service")
      } catch {
        throw Failure(bluetooth: error, doing: doing)
      }
    }
  }

  /// The records of a meter that sends them without a request, until it is silent.
  private func unaskedRecords() throws -> GlucoseTransfer {
    var transfer = GlucoseTransfer()
    var milliseconds = Self.unaskedMilliseconds
    while let event = try event(within: milliseconds, mayBeSilent: true) {
      switch event {
      case .measurement(let bytes): try transfer.addMeasurement(bytes)
      case .context(let bytes): try transfer.addContext(bytes)
      case .answer: break
      }
      milliseconds = Self.endOfStreamMilliseconds
      meter.reportProgress(transfer.measurements.count, of: nil)
    }
    return transfer
  }

  /// Requests the number of records. The inner number is nil if the meter cannot count; the result is nil if
  /// the meter does not answer at all.
  private func count(_ which: RecordAccess, mayBeSilent: Bool) throws -> (number: Int?, Void)? {
    let doing = "asking the meter for the number of its records"
    do {
      try request(which, doing)
    } catch let failure as Failure where mayBeSilent && failure.category == .protocolViolation {
      return nil
    }
    while let event = try event(within: Self.requestMilliseconds, mayBeSilent: mayBeSilent, doing) {
      guard case .answer(let bytes) = event else { continue }
      switch ControlPointAnswer(bytes) {
      case .count(let number): return (number, ())
      case .response(request: 0x04, ControlPointAnswer.noRecords): return (0, ())
      case .response(request: 0x04, _): return (nil, ())
      default: throw Self.unexpected(bytes, doing)
      }
    }
    return nil
  }

  /// Reads the requested records, each once. Nil if the meter does not support a request for the records from
  /// a number on.
  private func report(_ which: RecordAccess, of count: Int?) throws -> GlucoseTransfer? {
    let doing = "reading the records"
    var transfer = GlucoseTransfer()
    try request(which, doing)
    while let event = try event(within: Self.silenceMilliseconds, mayBeSilent: false, doing) {
      switch event {
      case .measurement(let bytes): try transfer.addMeasurement(bytes)
      case .context(let bytes): try transfer.addContext(bytes)
      case .answer(let bytes):
        switch ControlPointAnswer(bytes) {
        case .response(request: 0x01, ControlPointAnswer.success): return transfer
        case .response(request: 0x01, ControlPointAnswer.noRecords) where transfer.measurements.isEmpty:
          return transfer
        case .response(request: 0x01, let result)
        where which != .reportAll && ControlPointAnswer.notSupported.contains(result):
          return nil
        default: throw Self.unexpected(bytes, doing)
        }
      }
      meter.reportProgress(transfer.measurements.count, of: count)
    }
    return transfer
  }

  private func request(_ request: RecordAccess, _ doing: String) throws {
    do throws(TransportError) {
      _ = try meter.perform(.recordAccess(request), within: Self.requestMilliseconds)
    } catch {
      throw Failure(bluetooth: error, doing: doing)
    }
  }

  /// Waits for the next notification or indication. If the meter may be silent, the result is nil after the
  /// time limit.
  private func event(
    within milliseconds: Int, mayBeSilent: Bool, _ doing: String = "reading the records"
  ) throws -> Event? {
    let bytes: [UInt8]
    do throws(TransportError) {
      bytes = try meter.perform(.notification, within: milliseconds)
    } catch .timedOut where mayBeSilent {
      return nil
    } catch {
      stopSending(after: error)
      throw Failure(bluetooth: error, doing: doing)
    }
    let value = Array(bytes.dropFirst(2))
    switch bytes.littleEndian(UInt16.self, at: 0).flatMap(GlucoseCharacteristic.init(rawValue:)) {
    case .measurement: return .measurement(value)
    case .context: return .context(value)
    case .recordAccess: return .answer(value)
    default: throw Failure(.protocolViolation, "\(doing): the meter sent something else than records")
    }
  }

  /// Asks the meter to stop sending if this program ends the session. If the meter is silent, the standard
  /// permits no request.
  private func stopSending(after error: TransportError) {
    switch error {
    case .interrupted, .overrun: break
    default: return
    }
    do throws(TransportError) {
      _ = try meter.perform(.recordAccess(.abort), within: 1000)
    } catch {
      // The session ends with its first error, so this second one is not reported.
    }
  }

  private static func unexpected(_ bytes: [UInt8], _ doing: String) -> Failure {
    let reason: String =
      switch ControlPointAnswer(bytes) {
      case .response(_, 0x08): "the meter could not complete the transfer"
      case .response(_, let result): "the meter refused the request with the result \(result)"
      case .count, nil: "the meter's answer does not belong to the request"
      }
    return Failure(.protocolViolation, "\(doing): \(reason); switch the meter off and on again and retry")
  }
}

extension Failure {
  /// The failure of an exchange with a Bluetooth meter. Its advice mentions no plug.
  fileprivate init(bluetooth error: TransportError, doing: String) {
    let remedy = "bring the meter near, switch it on and retry"
    switch error {
    case .timedOut: self.init(.protocolViolation, "\(doing): the meter did not answer in time; \(remedy)")
    case .unplugged: self.init(.unavailable, "\(doing): the connection to the meter was lost; \(remedy)")
    case .stalled: self.init(.protocolViolation, "\(doing): the meter refused the request; \(remedy)")
    case .overrun(.nothingNew):
      self.init(.protocolViolation, "\(doing): the meter sent no new record for 2 minutes; \(remedy)")
    default: self.init(error, doing: doing)
    }
  }
}
