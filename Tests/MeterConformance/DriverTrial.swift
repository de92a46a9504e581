// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import Meters
package import SimulatedMeters
package import SimulatedUSB
import Testing

/// One driver with one of its simulated meters: sessions with the meter, and what is to be said of them.
package struct DriverTrial: CustomTestStringConvertible, Sendable {
  /// How a session ended.
  package struct Outcome {
    /// What the driver gave.
    package let result: Result<MeterContents, any Error>
    /// The host, which counted.
    package let host: SimulatedHost
  }

  /// The driver.
  package let driver: any MeterDriver.Type
  /// The simulated meter.
  package let family: SimulatedFamily

  /// A driver with a meter.
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

  /// A new meter that holds this.
  package func meter(_ memory: SimulatedMemory) -> SimulatedConnection { family.make(memory) }

  /// The same meter for another session: as it is, or plugged in again where it answers once.
  package func again(_ meter: SimulatedConnection, _ memory: SimulatedMemory) -> SimulatedConnection {
    family.answersOnce ? family.make(memory) : meter
  }

  /// Lets the driver read the meter.
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

  /// Lets the driver ask who the meter is.
  package func identify(_ meter: SimulatedConnection, now: Int64 = Self.noon.seconds) throws -> MeterIdentity
  {
    let (model, host) = try connect(meter, nil, 10_000)
    return try driver.init().identify(MeterConnection(host, model: model) { now })
  }

  /// The transcript of a read, in which no time passes.
  package func record(_ meter: SimulatedConnection) throws -> Transcript {
    let (model, host) = try connect(meter, nil, 100_000)
    var transcript = Transcript(
      driver: driver.id, vendorID: model.vendorID, productID: model.productID, startedAt: Self.noon.seconds)
    let recording = RecordingTransport(host, milliseconds: { 0 }, note: { transcript.steps.append($0) })
    _ = try driver.init().read(MeterConnection(recording, model: model) { Self.noon.seconds })
    return transcript
  }

  /// Lets the driver set the clock, over one connection.
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
    }
  }
}

extension DriverTrial {
  /// The meters' clock.
  package static let noon = DeviceTime(seconds: 1_710_504_000)

  /// A memory of these items, as far as the meter can hold them, a bit more than half an hour apart.
  package func memory(_ measurements: [(ReadingKind, Measurement, ReadingMarks)]) -> SimulatedMemory {
    var memory = SimulatedMemory(clock: Self.noon)
    let items = measurements.enumerated().map { index, each in
      let time = DeviceTime(seconds: Self.noon.seconds - Int64(measurements.count - index) * 35 * 60)
      return SimulatedItem(each.0, at: time, each.1, marks: each.2)
    }
    memory.items = items.filter(family.holds)
    return memory
  }

  /// Something of everything.
  package var variety: SimulatedMemory {
    memory([
      (.smbg, .milligrams(95), []), (.smbg, .milligrams(254), []), (.smbg, .milligrams(61), .beforeMeal),
      (.smbg, .milligrams(187), .afterMeal), (.cbg, .milligrams(110), []), (.cbg, .milligrams(113), []),
      (.scan, .milligrams(118), []), (.ketone, .value(Quantity(0.6, .millimolesPerLitre)), []),
      (.smbg, .milligrams(98), .calibration), (.smbg, .milligrams(120), .controlSolution),
      (.smbg, .milligrams(104), []),
    ])
  }

  /// Values beyond the range among others.
  package var limits: SimulatedMemory {
    memory([
      (.smbg, .milligrams(95), []), (.smbg, .low(below: nil, .milligramsPerDecilitre), []),
      (.smbg, .high(above: nil, .milligramsPerDecilitre), []), (.smbg, .milligrams(101), []),
    ])
  }

  /// As many readings as the meter holds.
  package var full: SimulatedMemory {
    memory((0..<family.capacity).map { (.smbg, .milligrams(Double(70 + $0 % 300)), []) })
  }

  /// What speaks against a session: nothing where it ended in a failure that may be, or gave all that the meter holds.
  ///
  /// - Parameter mayBeWrong: whether a wrong value cannot be found out.
  package func complaint(_ outcome: Outcome, of memory: SimulatedMemory, mayBeWrong: Bool = false) -> String?
  {
    if outcome.host.isOverrun { return "goes on for more than \(outcome.host.exchanges) exchanges" }
    switch outcome.result {
    case .failure(let error): return error is Failure ? nil : "ends in \(error), which is no Failure"
    case .success(let contents):
      return mayBeWrong ? nil : Self.difference(contents, memory.items)
    }
  }

  /// How contents differ from what the meter holds; a reading that was rejected or passed over with a word is no
  /// wrong one.
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

  /// A meter that sends tenths of mmol/L rounds, and some send the end of their range for LO and HI: it is marked.
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

  /// What speaks against the driver when this fault happens at each packet in turn.
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

  /// A session with a fault; nil where the fault lets not even the link be opened.
  package func disturbed(_ meter: SimulatedConnection, _ fault: Fault, _ exchanges: Int) throws -> Outcome? {
    do { return try read(meter, fault: fault, maxExchanges: exchanges * 20 + 200) } catch is Failure {
      return nil
    }
  }
}

extension Measurement {
  /// A value in mg/dL.
  package static func milligrams(_ number: Double) -> Measurement {
    .value(Quantity(number, .milligramsPerDecilitre))
  }
}
