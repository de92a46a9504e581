// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import Meters
package import SimulatedMeters
package import SimulatedUSB
import Testing

/// One driver with one of its simulated meters: runs sessions and judges them.
package struct DriverTrial: CustomTestStringConvertible, Sendable {
  /// The result of a session.
  package struct Outcome {
    package let result: Result<MeterContents, any Error>
    /// The simulated host, which counted the exchanges.
    package let host: SimulatedHost
  }

  package let driver: any MeterDriver.Type
  package let family: SimulatedFamily

  package init(driver: any MeterDriver.Type, family: SimulatedFamily) {
    self.driver = driver
    self.family = family
  }

  /// Each of these drivers with each of its simulated meters.
  package static func all(
    _ drivers: [any MeterDriver.Type], with meters: [SimulatedFamily]
  ) -> [DriverTrial] {
    drivers.flatMap { driver in
      meters.filter { $0.driver == driver.id }.map { DriverTrial(driver: driver, family: $0) }
    }
  }

  package var testDescription: String { family.description }

  /// A new meter with this memory.
  package func meter(_ memory: SimulatedMemory) -> SimulatedConnection { family.make(memory) }

  /// The same meter for another session. A meter that answers only once is plugged in again.
  package func again(_ meter: SimulatedConnection, _ memory: SimulatedMemory) -> SimulatedConnection {
    family.answersOnce ? family.make(memory) : meter
  }

  /// Reads the meter with the driver.
  package func read(
    _ meter: SimulatedConnection, now: Int64 = Self.noon.seconds, fault: Fault? = nil,
    maxExchanges: Int = 100_000, secondsOfExchange: Int = 0,
    onIdentity: @escaping (MeterIdentity) throws -> Void = { _ in }
  ) throws -> Outcome {
    let (model, host) = try connect(meter, fault, maxExchanges)
    let connection = MeterConnection(host, model: model) { now }
    connection.onIdentity = onIdentity
    connection.elapsed = { .seconds(secondsOfExchange * host.exchanges) }
    return Outcome(result: Result { try driver.init().read(connection) }, host: host)
  }

  /// Requests the meter's identity with the driver.
  package func identify(_ meter: SimulatedConnection, now: Int64 = Self.noon.seconds) throws -> MeterIdentity
  {
    let (model, host) = try connect(meter, nil, 10_000)
    return try driver.init().identify(MeterConnection(host, model: model) { now })
  }

  /// The transcript of a read during which no time passes.
  package func record(_ meter: SimulatedConnection) throws -> Transcript {
    let (model, host) = try connect(meter, nil, 100_000)
    var transcript = Transcript(
      driver: driver.id, vendorID: model.vendorID, productID: model.productID, startedAt: Self.noon.seconds)
    if driver.usesBluetooth { transcript.link = .bluetooth }
    let recording = RecordingTransport(host, milliseconds: { 0 }, note: { transcript.steps.append($0) })
    _ = try driver.init().read(MeterConnection(recording, model: model) { Self.noon.seconds })
    return transcript
  }

  /// Sets the clock with the driver, over one connection.
  package func setClock(
    _ meter: SimulatedConnection, by time: (MeterIdentity) throws -> DeviceTime
  ) throws {
    let (model, host) = try connect(meter, nil, 10_000)
    try driver.init().setClock(MeterConnection(host, model: model) { Self.noon.seconds }, by: time)
  }

  private func connect(
    _ meter: SimulatedConnection, _ fault: Fault?, _ maxExchanges: Int
  ) throws -> (MeterModel, SimulatedHost) {
    switch meter {
    case .usb(let meter):
      let device = SimulatedDevice(meter)
      let known = driver.models.first {
        $0.vendorID == device.vendorID && $0.productID == device.productID && $0.obstacle == nil
      }
      let model = try #require(known, "the driver does not know the meter's ids")
      return (model, try SimulatedHost(meter, model.link, fault: fault, maxExchanges: maxExchanges))
    case .line(let line):
      for model in driver.models where model.obstacle == nil {
        guard case .terminal(let settings) = model.link else { continue }
        return (model, SimulatedHost(line, settings, fault: fault, maxExchanges: maxExchanges))
      }
      throw Failure(.usage, "the driver knows no meter behind a terminal")
    case .radio(let meter):
      return (.bluetooth(driver.name), SimulatedHost(meter, fault: fault, maxExchanges: maxExchanges))
    }
  }
}

extension DriverTrial {
  /// The time on the meters' clocks.
  package static let noon = DeviceTime(seconds: 1_710_504_000)

  /// A memory with these items, if the meter can hold them, a bit more than half an hour apart.
  package func memory(_ measurements: [(ReadingKind, Measurement, ReadingMarks)]) -> SimulatedMemory {
    var memory = SimulatedMemory(clock: Self.noon)
    let items = measurements.enumerated().map { index, each in
      let time = DeviceTime(seconds: Self.noon.seconds - Int64(measurements.count - index) * 35 * 60)
      return SimulatedItem(each.0, at: time, each.1, marks: each.2)
    }
    memory.items = items.filter(family.holds)
    return memory
  }

  /// A memory with an item of every kind.
  package var variety: SimulatedMemory {
    memory([
      (.smbg, .milligrams(95), []), (.smbg, .milligrams(254), []), (.smbg, .milligrams(61), .beforeMeal),
      (.smbg, .milligrams(187), .afterMeal), (.cbg, .milligrams(110), []), (.cbg, .milligrams(113), []),
      (.scan, .milligrams(118), []), (.ketone, .value(Quantity(0.6, .millimolesPerLitre)), []),
      (.smbg, .milligrams(98), .calibration), (.smbg, .milligrams(120), .controlSolution),
      (.smbg, .milligrams(104), []),
    ])
  }

  /// A memory with values out of range among others.
  package var limits: SimulatedMemory {
    memory([
      (.smbg, .milligrams(95), []), (.smbg, .low(below: nil, .milligramsPerDecilitre), []),
      (.smbg, .high(above: nil, .milligramsPerDecilitre), []), (.smbg, .milligrams(101), []),
    ])
  }

  /// A memory filled to the meter's capacity.
  package var full: SimulatedMemory {
    memory((0..<family.capacity).map { (.smbg, .milligrams(Double(70 + $0 % 300)), []) })
  }

  /// What is wrong with a session; nil if it ended with an acceptable failure, or returned everything that
  /// the meter holds.
  ///
  /// - Parameter mayBeWrong: whether a wrong value cannot be detected.
  package func complaint(_ outcome: Outcome, of memory: SimulatedMemory, mayBeWrong: Bool = false) -> String?
  {
    if outcome.host.isOverrun { return "goes on for more than \(outcome.host.exchanges) exchanges" }
    switch outcome.result {
    case .failure(let error): return error is Failure ? nil : "ends in \(error), which is no Failure"
    case .success(let contents):
      return mayBeWrong ? nil : Self.difference(contents, memory.items)
    }
  }

  /// The difference between contents and what the meter holds. Rejected and skipped readings may be missing.
  package static func difference(_ contents: MeterContents, _ items: [SimulatedItem]) -> String? {
    var missing = items
    for reading in contents.readings {
      guard let index = missing.firstIndex(where: { agree($0, reading) }) else {
        return "gives \(reading), which the meter does not hold"
      }
      missing.remove(at: index)
    }
    let named = contents.rejections.count + contents.skipped.values.reduce(0, +)
    return missing.count <= named ? nil : "leaves out \(missing.count) readings: \(missing.prefix(2))"
  }

  /// Whether a reading matches an item. Tenths of mmol/L are rounded. For LO and HI, some meters send the end
  /// of their range, and the driver marks this reading.
  private static func agree(_ item: SimulatedItem, _ reading: MeterReading) -> Bool {
    let control = ReadingMarks.controlSolution
    if item.measurement.valueBucket < 0, reading.marks.contains(.atLimit) {
      return item.kind == reading.kind && item.deviceTime == reading.deviceTime
    }
    return item.kind == reading.kind && item.deviceTime == reading.deviceTime
      && item.marks.contains(control) == reading.marks.contains(control)
      && (item.measurement.valueBucket < 0) == (reading.measurement.valueBucket < 0)
      && abs(item.measurement.valueBucket - reading.measurement.valueBucket)
        <= (item.measurement.valueBucket < 0 ? 0 : 1)
  }

  /// What is wrong with the driver when each of these faults of the meter occurs at each packet in turn.
  package func complaints(_ kinds: [Fault.Kind]) throws -> [String] {
    let memory = variety
    let clean = try read(meter(memory)).host
    var complaints: [String] = []
    for kind in kinds {
      let packets = kind == .unplug ? clean.steps : clean.received
      for packet in stride(from: 0, to: packets, by: max(1, packets / 100)) {
        let fault = Fault(kind, at: packet)
        guard let outcome = try disturbed(meter(memory), fault, clean.exchanges) else { continue }
        let isCorruption = if case .corrupt = kind { true } else { false }
        let mayBeWrong = isCorruption && !family.hasChecksums
        if let complaint = complaint(outcome, of: memory, mayBeWrong: mayBeWrong) {
          complaints.append("\(fault): \(complaint)")
        }
        if kind == .unplug, case .failure(let error as Failure) = outcome.result,
          error.category != .unavailable
        {
          complaints.append("\(fault): ends as \(error.category): \(error.message)")
        }
      }
    }
    return complaints
  }

  /// A session with a fault; nil if the fault prevents opening the link.
  package func disturbed(_ meter: SimulatedConnection, _ fault: Fault, _ exchanges: Int) throws -> Outcome? {
    do { return try read(meter, fault: fault, maxExchanges: exchanges * 20 + 200) } catch is Failure {
      return nil
    }
  }
}

extension Measurement {
  package static func milligrams(_ number: Double) -> Measurement {
    .value(Quantity(number, .milligramsPerDecilitre))
  }
}
