// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// A transport that records every exchange with another transport, including failed exchanges.
///
/// Each exchange is recorded when it ends, so that the transcript of an interrupted session holds everything
/// before the interruption.
package final class RecordingTransport: Transport {
  private let transport: any Transport
  private let milliseconds: () -> Int
  private let note: (Transcript.Step) throws -> Void
  private var count = 0

  /// Records the exchanges of a transport.
  ///
  /// - Parameters:
  ///   - milliseconds: the time since the session began.
  ///   - note: stores a step; if it throws, the exchange fails.
  package init(
    _ transport: any Transport, milliseconds: @escaping () -> Int,
    note: @escaping (Transcript.Step) throws -> Void
  ) {
    self.transport = transport
    self.milliseconds = milliseconds
    self.note = note
  }

  /// Performs the exchange, records it, and returns its result.
  package func perform(_ exchange: LinkOperation, within limit: Int) throws(TransportError) -> [UInt8] {
    let result: Result<[UInt8], TransportError>
    do {
      result = .success(try transport.perform(exchange, within: limit))
    } catch {
      result = .failure(error)
    }
    guard count < Transcript.maxSteps else { throw .failed("the transcript is full") }
    count += 1
    do {
      try note(Transcript.Step(milliseconds: milliseconds(), exchange: exchange, result: result))
    } catch {
      throw .failed("the transcript cannot be written: \(error)")
    }
    return try result.get()
  }
}

/// A transport that answers from a transcript. The driver must send the same requests as in the recording.
public final class ReplayedTransport: Transport {
  private let steps: [Transcript.Step]
  private var next = 0

  /// A replay from the first step.
  public init(_ transcript: Transcript) { steps = transcript.steps }

  /// Whether every step was replayed.
  package var isExhausted: Bool { next == steps.count }

  /// The recorded time of the latest replayed step, in milliseconds since the session began.
  package var milliseconds: Int { next > 0 ? steps[next - 1].milliseconds : 0 }

  /// Returns the recorded answer; fails for another request, or for one after the last step.
  public func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    guard next < steps.count else { throw .failed("the transcript ends at exchange \(next)") }
    let step = steps[next]
    guard Self.isSame(step.exchange, exchange) else {
      throw .failed("exchange \(next + 1) of the transcript differs from what the driver sends")
    }
    next += 1
    return try step.result.get()
  }

  /// Whether two exchanges are the same. The maximum number of bytes to receive may differ.
  private static func isSame(_ recorded: LinkOperation, _ asked: LinkOperation) -> Bool {
    switch (recorded, asked) {
    case (.receive, .receive): true
    case (.feature(let id, _), .feature(let other, _)): id == other
    case (.controlIn(let request, _), .controlIn(let other, _)): request == other
    case (.command(let bytes, _), .command(let other, _)): bytes == other
    default: recorded == asked
    }
  }
}

extension Transcript {
  /// The driver of the session, and a meter that replays it, with the clock of the recording host.
  ///
  /// - Parameter name: the path, for errors.
  /// - Throws: `Failure` of `.badInput` for an unknown driver or model.
  public func replay(named name: String) throws(Failure) -> (
    driver: any MeterDriver.Type, meter: MeterConnection
  ) {
    guard let driver = DriverRegister.driver(driver) else {
      throw Failure(.badInput, "\(name): unknown driver '\(driver)'")
    }
    guard let model = model(of: driver) else {
      throw Failure(
        .badInput,
        "\(name): the driver '\(driver.id)' supports no meter "
          + (isBluetooth ? "by Bluetooth" : "with the USB ids " + MeterModel.ids(vendorID, productID)))
    }
    let transport = ReplayedTransport(self)
    let start = startedAt
    let meter = MeterConnection(transport, model: model) { start + Int64(transport.milliseconds / 1000) }
    meter.elapsed = { .milliseconds(transport.milliseconds) }
    return (driver, meter)
  }

  private func model(of driver: any MeterDriver.Type) -> MeterModel? {
    if isBluetooth { return driver.usesBluetooth ? .bluetooth(driver.name) : nil }
    return driver.knownModel(vendorID, productID)
      ?? link.flatMap { driver.model(vendorID, productID, over: $0) }
  }
}
