// SPDX-License-Identifier: Apache-2.0

/// A driver's session with one meter: a transport, the meter's model, and the host's clock.
public final class MeterConnection {
  /// The model of the connected meter.
  public let model: MeterModel
  /// The host's clock in UTC seconds, which drivers compare with the meter's clock.
  public let now: () -> Int64
  /// Receives the meter's identity before the driver reads its memory. If it throws, the driver ends the
  /// session with the meter properly.
  public var onIdentity: (MeterIdentity) throws -> Void = { _ in }
  /// Returns the position up to which this meter's memory is stored; nil to read all of it. Drivers call it
  /// after `onIdentity`.
  public var storedPosition: (MeterIdentity) throws -> MeterPosition? = { _ in nil }
  /// Receives the number of items read, and the total if the meter reported it. Drivers do not call it
  /// directly, but call `reportProgress`.
  public var onProgress: (_ done: Int, _ total: Int?) -> Void = { _, _ in }
  /// The time since the session began. A session that gets no new data for too long is ended by this clock.
  /// In a replay of a recorded session, it is the recorded time or zero.
  public var elapsed: () -> Duration = { .zero }
  /// Waits for this many milliseconds between two exchanges. In a replay of a recorded session, it returns at
  /// once.
  public var pause: (_ milliseconds: Int) -> Void = { _ in }

  /// Whether the meter was unplugged during the session.
  public private(set) var wasUnplugged = false

  /// The maximum time without a new record. The slowest known meter sends a record within a second, and needs
  /// a minute to prepare its report.
  private static let maxSilence = Duration.seconds(120)
  /// The maximum duration of a session. Reading the largest known memory takes minutes.
  private static let maxDuration = Duration.seconds(3600)
  /// The number of exchanges that a driver may still perform after an overrun, to end the session with the
  /// meter properly.
  private static let maxClosingExchanges = 4

  private let transport: any Transport
  private var done = 0
  private var newestAt = Duration.zero
  /// Why the session must end, and the number of exchanges performed since then; nil before an overrun.
  private var overrun: (reason: TransportError.Overrun, steps: Int)?

  /// A session with this model over this transport.
  public init(_ transport: any Transport, model: MeterModel, now: @escaping () -> Int64) {
    self.transport = transport
    self.model = model
    self.now = now
  }

  /// Drivers call it with the number of items read, and the total if the meter reported it. If the number
  /// changes, the session has made progress.
  public func reportProgress(_ done: Int, of total: Int?) {
    if done != self.done { (self.done, newestAt) = (done, elapsed()) }
    onProgress(done, total)
  }

  /// Performs one exchange of the session, and returns the received bytes.
  ///
  /// - Throws: errors of the transport, and `TransportError.overrun` if the meter sends nothing new for too
  ///   long or never ends.
  public func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    try checkTime()
    do {
      return try transport.perform(exchange, within: milliseconds)
    } catch {
      if error == .unplugged { wasUnplugged = true }
      throw error
    }
  }

  /// Sends one packet.
  public func send(_ bytes: [UInt8], within milliseconds: Int = 5000) throws(TransportError) {
    _ = try perform(.send(bytes), within: milliseconds)
  }

  /// Waits for one packet.
  public func receive(maxBytes: Int = 64, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    try perform(.receive(maxBytes: maxBytes), within: milliseconds)
  }

  /// Throws if the session has lasted too long, or if no new data came for too long. Without this check, a
  /// meter that keeps sending would never let the session end.
  private func checkTime() throws(TransportError) {
    if let overrun {
      guard overrun.steps < Self.maxClosingExchanges else { throw .overrun(overrun.reason) }
      return self.overrun = (overrun.reason, overrun.steps + 1)
    }
    let time = elapsed()
    let reason: TransportError.Overrun? =
      time > Self.maxDuration ? .tooLong : time - newestAt > Self.maxSilence ? .nothingNew : nil
    guard let reason else { return }
    overrun = (reason, 0)
    throw .overrun(reason)
  }

  /// The time that the meter showed, together with the host's clock at this moment.
  public func compareClock(_ shown: DeviceTime) -> ClockComparison {
    ClockComparison(meter: shown, host: now())
  }
}

extension Failure {
  /// A failed exchange as a sentence that names the action of the driver.
  ///
  /// - Parameter doing: the action, such as `reading record 12`.
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
    case .notPaired:
      self.init(
        .permission,
        "\(doing): the meter and this computer are not paired; run 'glucoport meter forget', then 'glucoport meter pair'"
      )
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
