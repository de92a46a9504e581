// SPDX-License-Identifier: Apache-2.0

/// A driver's end of the session with one meter: a transport, the model that was found, and the host's clock.
public final class MeterConnection {
  /// What was found at the plug.
  public let model: MeterModel
  /// The host's clock in UTC seconds.
  public let now: () -> Int64
  /// Receives the meter's identity before its memory is read; where it throws, the session ends in good order.
  public var onIdentity: (MeterIdentity) throws -> Void = { _ in }
  /// Receives how many items are read, and how many there are where the meter said so. Drivers call `noteProgress`.
  public var onProgress: (_ done: Int, _ total: Int?) -> Void = { _, _ in }
  /// The time since the session began, by which one ends that brings nothing new. In a recorded session it is that of the
  /// recording, and none passes where nothing is said.
  public var elapsed: () -> Duration = { .zero }
  /// Lets so many milliseconds pass between two exchanges. In a recorded session no time passes.
  public var pause: (_ milliseconds: Int) -> Void = { _ in }

  /// Whether the meter left the bus in the middle of the session.
  public private(set) var wasUnplugged = false

  /// The slowest known meter sends a record in less than a second, and prepares its report in less than a minute.
  private static let maxSilence = Duration.seconds(120)
  /// The largest known memory takes minutes.
  private static let maxDuration = Duration.seconds(3600)
  /// The steps that a driver may still take to leave a meter in good order.
  private static let maxFarewell = 4

  private let transport: any Transport
  private var done = 0
  private var newestAt = Duration.zero
  /// Why the session is over, and how many steps were taken since.
  private var overrun: (reason: TransportError.Overrun, steps: Int)?

  /// A session with this model over this transport.
  public init(_ transport: any Transport, model: MeterModel, now: @escaping () -> Int64) {
    self.transport = transport
    self.model = model
    self.now = now
  }

  /// Notes how many items are read, and how many there are where the meter said so. Another number than before shows that
  /// the session goes on.
  public func noteProgress(_ done: Int, of total: Int?) {
    if done != self.done { (self.done, newestAt) = (done, elapsed()) }
    onProgress(done, total)
  }

  /// Does one step of the session, and returns what came.
  ///
  /// - Throws: also `TransportError.overrun` where the meter brings nothing new, or does not come to an end.
  public func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    try checkTime()
    do {
      return try transport.perform(exchange, within: milliseconds)
    } catch {
      if error == .unplugged { wasUnplugged = true }
      throw error
    }
  }

  /// Hands over one packet.
  public func send(_ bytes: [UInt8], within milliseconds: Int = 5000) throws(TransportError) {
    _ = try perform(.send(bytes), within: milliseconds)
  }

  /// Waits for one packet.
  public func receive(maxBytes: Int = 64, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    try perform(.receive(maxBytes: maxBytes), within: milliseconds)
  }

  /// Ends a session that would go on as long as the meter sends anything.
  private func checkTime() throws(TransportError) {
    if let overrun {
      guard overrun.steps < Self.maxFarewell else { throw .overrun(overrun.reason) }
      return self.overrun = (overrun.reason, overrun.steps + 1)
    }
    let time = elapsed()
    let reason: TransportError.Overrun? =
      time > Self.maxDuration ? .tooLong : time - newestAt > Self.maxSilence ? .nothingNew : nil
    guard let reason else { return }
    overrun = (reason, 0)
    throw .overrun(reason)
  }

  /// Both clocks at this moment.
  public func compareClock(_ shown: DeviceTime) -> ClockComparison {
    ClockComparison(meter: shown, host: now())
  }
}

extension Failure {
  /// A failed exchange, as a sentence that says what was being done.
  ///
  /// - Parameter doing: what the driver did: `reading record 12`.
  public init(_ error: TransportError, doing: String) {
    switch error {
    case .timedOut:
      self.init(
        .protocolViolation,
        "\(doing): the meter did not answer in time; unplug it, plug it in again and retry")
    case .unplugged:
      self.init(.unavailable, "\(doing): the meter was unplugged; plug it in and retry")
    case .stalled:
      self.init(
        .protocolViolation, "\(doing): the meter refused the request; unplug it, plug it in again and retry")
    case .overflow:
      self.init(.protocolViolation, "\(doing): the meter sent more than its protocol allows")
    case .unsupported:
      self.init(.protocolViolation, "\(doing): this connection does not support what the driver needs")
    case .overrun(.nothingNew):
      self.init(
        .protocolViolation,
        "\(doing): the meter sent no new record for 2 minutes; unplug it, plug it in again and retry")
    case .overrun(.tooLong):
      self.init(
        .protocolViolation,
        "\(doing): the session with the meter did not end within an hour; unplug it, plug it in again and retry"
      )
    case .interrupted:
      self.init(.temporary, "\(doing): interrupted")
    case .failed(let words):
      self.init(.inputOutput, "\(doing): \(words)")
    }
  }
}
