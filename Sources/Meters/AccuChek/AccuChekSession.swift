// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One association with a meter of the Personal Healthcare Device Class: the steps of its protocol, in order.
struct AccuChekSession {
  /// The timeout of a transfer. Every known program that reads these meters uses five seconds.
  private static let milliseconds = 5000
  /// The maximum size of one transfer in bytes, as in two other programs. The longest message of a real meter
  /// has 470 bytes.
  private static let maxTransfer = 1024

  private let meter: MeterConnection
  /// The number of the last request, or of the event received before the first request.
  private var invokeID: UInt16 = 0
  /// The handle of the object with the memory. It is 5 on a real Guide.
  private var store: UInt16 = 0
  private var isAssociated = false
  /// Deviations of the meter that do not affect the values; each is listed once.
  private(set) var warnings: [String] = []

  init(_ meter: MeterConnection) { self.meter = meter }

  /// Receives the meter's request for an association and its description of itself.
  mutating func associate() throws {
    let doing = "associating with the meter"
    do throws(TransportError) {
      // Every known program requests the status first. The content of the status is not needed. Some USB
      // stacks refuse the request, so its failure is ignored.
      let status = ControlRequest(type: 0x80, request: 0, value: 0, index: 0)
      _ = try meter.perform(.controlIn(status, maxBytes: 2), within: Self.milliseconds)
    } catch .stalled, .unsupported {
      // The meter sends the first message even if this request failed, so the failure is ignored.
    } catch {
      throw Failure(error, doing: doing)
    }
    guard try receive(doing: doing).kind == .associationRequest else { throw Self.violation(doing) }
    isAssociated = true
    try send(APDU(.associationResponse, Self.acceptance), doing: doing)
    try receiveConfiguration(doing: doing)
  }

  /// Requests the meter's attributes.
  mutating func device() throws -> MedicalDevice {
    let doing = "asking the meter for its identity"
    let answer = try request(.get, [0, 0, 0, 0, 0, 0], answer: .getResponse, doing: doing)
    return try Self.parse(doing) { () throws(MalformedAPDU) in try MedicalDevice(parsing: answer) }
  }

  /// Requests the list of segments, and returns it with glucose first.
  ///
  /// If the answer cannot be parsed, the result is one segment of glucose, as in two other programs.
  mutating func segments() throws -> [MemorySegment] {
    let doing = "asking the meter for its memory's parts"
    let came = try answer(
      .confirmedAction, store.bigEndianBytes + [0x0C, 0x0D, 0x00, 0x06, 0x00, 0x01, 0x00, 0x02, 0x00, 0x00],
      doing: doing)
    do throws(MalformedAPDU) {
      guard came.choice == .actionResponse else { throw MalformedAPDU(part: "the answer's choice") }
      let segments = try MemorySegment.parse(came.content)
      for segment in segments where segment.content == .unreadable {
        warn(
          "part \(segment.instance) of the memory is described in an unknown form, and was left out")
      }
      let glucose = segments.filter { $0.content == .glucose }
      return (glucose.isEmpty ? [.undescribed] : glucose) + segments.filter { $0.content != .glucose }
    } catch {
      warn(
        "the meter's description of its memory cannot be understood at \(error.part): its glucose alone was read"
      )
      return [.undescribed]
    }
  }

  /// Reads a segment, report by report.
  ///
  /// - Parameter add: receives each report; its first entry follows the last entry of the report before.
  mutating func read(_ segment: MemorySegment, add: (SegmentReport) throws -> Void) throws {
    let doing = "reading part \(segment.instance) of the meter's memory"
    guard try startTransfer(segment, doing: doing) else { return }
    var next = 0
    // The limit is far above the largest known memory, which holds 720 entries.
    while next < 100_000 {
      let event = try data(doing: doing)
      guard event.choice == .confirmedEvent || event.choice == .event,
        let report = try Self.parse(
          doing, { () throws(MalformedAPDU) in try SegmentReport(parsing: event.content) }),
        report.first == next, report.count > 0 || report.isLast
      else { throw Self.violation(doing) }
      if report.instance != segment.instance { warnOfInstance(segment) }
      guard !report.isAborted else {
        throw Failure(
          .protocolViolation, "\(doing): the meter gave up; unplug it, plug it in again and retry")
      }
      try add(report)
      next += report.count
      try send(
        DataAPDU(event.invokeID, .eventResponse, report.confirmation(handle: store)).apdu, doing: doing)
      if report.isLast { return }
    }
    throw Failure(.protocolViolation, "\(doing): the meter does not come to an end")
  }

  mutating func setClock(_ time: DeviceTime) throws {
    _ = try request(
      .confirmedAction, [0, 0, 0x0C, 0x17, 0x00, 0x0C] + MedicalTime.bytes(time) + [0, 0, 0, 0],
      answer: .actionResponse, doing: "setting the meter's clock")
  }

  /// Ends the association, so that the meter leaves its data screen.
  mutating func release() {
    guard isAssociated else { return }
    isAssociated = false
    do throws(TransportError) {
      try meter.send(APDU(.releaseRequest, [0, 0]).bytes, within: 1000)
      _ = try meter.receive(maxBytes: Self.maxTransfer, within: 1000)
    } catch {
      // A meter that does not answer the release is no longer connected, so the failure is ignored.
    }
  }
}

extension AccuChekSession {
  /// The answer to a request for an association: accepted, configuration unknown. The meter then describes
  /// itself. The system id may be any eight bytes.
  fileprivate static let acceptance: [UInt8] =
    [0x00, 0x03, 0x50, 0x79, 0x00, 0x26, 0x80, 0x00, 0x00, 0x02, 0x80, 0x00, 0x80, 0x00, 0x00, 0x00]
    + [0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00, 0x08]
    + [0x12, 0x34, 0x56, 0x78, 0x00, 0x00, 0x00, 0x00] + [UInt8](repeating: 0, count: 10)

  /// Receives the list of the meter's objects, and keeps the handle of the object with the memory.
  fileprivate mutating func receiveConfiguration(doing: String) throws {
    for attempt in 0..<2 {
      let event = try data(doing: doing)
      guard event.choice == .confirmedEvent,
        let configuration = try Self.parse(
          doing, { () throws(MalformedAPDU) in try Configuration(parsing: event.content) })
      else { throw Self.violation(doing) }
      invokeID = event.invokeID
      guard let store = configuration.store else {
        // The first list of objects may lack the memory. As in Tidepool's program, the association is then
        // accepted again.
        if attempt == 0 { try send(APDU(.associationResponse, Self.acceptance), doing: doing) }
        continue
      }
      self.store = store
      let accepted =
        [0, 0, 0, 0, 0, 0, 0x0D, 0x1C, 0x00, 0x04] + configuration.id.bigEndianBytes + [0x00, 0x00]
      return try send(DataAPDU(event.invokeID, .eventResponse, accepted).apdu, doing: doing)
    }
    throw Failure(.protocolViolation, "\(doing): the meter names no memory")
  }

  /// Requests a segment; returns whether entries follow.
  fileprivate mutating func startTransfer(_ segment: MemorySegment, doing: String) throws -> Bool {
    let answer = try request(
      .confirmedAction, store.bigEndianBytes + [0x0C, 0x1C, 0x00, 0x02] + segment.instance.bigEndianBytes,
      answer: .actionResponse, doing: doing)
    let (instance, result) = try Self.parse(doing) { () throws(MalformedAPDU) in
      var reader = APDUReader(answer, part: "the answer to a transfer")
      _ = try reader.bytes(6)
      return (try reader.u16(), try reader.u16())
    }
    if instance != segment.instance { warnOfInstance(segment) }
    switch result {
    case 0: return true
    case 3: return false
    case 2 where segment.content == .glucose:
      throw Failure(.unavailable, "\(doing): the meter is busy; try again in a minute")
    default:
      throw Failure(
        .protocolViolation, "\(doing): the meter refused with result \(result); plug it in again and retry")
    }
  }

  /// Sends a request and returns the content of its answer.
  fileprivate mutating func request(
    _ choice: DataAPDU.Choice, _ content: [UInt8], answer: DataAPDU.Choice, doing: String
  ) throws -> [UInt8] {
    let came = try self.answer(choice, content, doing: doing)
    if came.choice == .error || came.choice == .reject {
      throw Failure(.protocolViolation, "\(doing): the meter refused the request")
    }
    guard came.choice == answer else { throw Self.violation(doing) }
    return came.content
  }

  /// Sends a request and returns its answer of any type.
  fileprivate mutating func answer(
    _ choice: DataAPDU.Choice, _ content: [UInt8], doing: String
  ) throws -> DataAPDU {
    // After the end of the association the meter answers nothing.
    guard isAssociated else { throw Self.violation(doing) }
    invokeID &+= 1
    try send(DataAPDU(invokeID, choice, content).apdu, doing: doing)
    let came = try data(doing: doing)
    guard came.invokeID == invokeID else { throw Self.violation(doing) }
    return came
  }

  /// Warns of answers with another instance number than the requested one. Two other programs ignore the
  /// number, and a real meter may always answer with 0.
  fileprivate mutating func warnOfInstance(_ segment: MemorySegment) {
    warn(
      "the meter's answers name another part of its memory than the requested part \(segment.instance)"
    )
  }

  fileprivate mutating func warn(_ warning: String) {
    if !warnings.contains(warning) { warnings.append(warning) }
  }

  fileprivate mutating func data(doing: String) throws -> DataAPDU {
    let apdu = try receive(doing: doing)
    if apdu.kind == .abort || apdu.kind == .releaseRequest {
      isAssociated = false
      throw Failure(
        .protocolViolation, "\(doing): the meter ended the session; unplug it, plug it in again and retry")
    }
    guard apdu.kind == .data else { throw Self.violation(doing) }
    return try Self.parse(doing) { () throws(MalformedAPDU) in try DataAPDU(parsing: apdu.body) }
  }

  fileprivate func send(_ apdu: APDU, doing: String) throws {
    do {
      try meter.send(apdu.bytes, within: Self.milliseconds)
    } catch {
      throw Failure(error, doing: doing)
    }
  }

  /// Receives one message, in one or more transfers. An empty transfer ends a message whose size is a
  /// multiple of 64.
  fileprivate func receive(doing: String) throws -> APDU {
    var bytes: [UInt8] = []
    for _ in 0..<APDU.maxBytes {
      do {
        bytes += try meter.receive(maxBytes: Self.maxTransfer, within: Self.milliseconds)
      } catch {
        throw Failure(error, doing: doing)
      }
      guard let length = APDU.length(of: bytes), bytes.count >= length else {
        guard bytes.count <= APDU.maxBytes else { break }
        continue
      }
      return try Self.parse(doing) { () throws(MalformedAPDU) in try APDU(parsing: bytes) }
    }
    throw Self.violation(doing)
  }

  fileprivate static func parse<Value>(
    _ doing: String, _ body: () throws(MalformedAPDU) -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch {
      throw Failure(.protocolViolation, "\(doing): the meter's answer cannot be understood at \(error.part)")
    }
  }

  fileprivate static func violation(_ doing: String) -> Failure {
    Failure(
      .protocolViolation, "\(doing): the meter sent another message; unplug it, plug it in again and retry")
  }
}

/// A meter's list of its objects.
private struct Configuration {
  /// The number of the list. The message that accepts the list repeats it.
  var id: UInt16
  /// The handle of the object with the memory; nil if it is missing.
  var store: UInt16?

  /// Parses the content of an event; nil if the event is not a list of objects.
  init?(parsing content: [UInt8]) throws(MalformedAPDU) {
    var reader = APDUReader(content, part: "the meter's configuration")
    _ = try reader.bytes(6)
    guard try reader.u16() == 0x0D1C else { return nil }
    var event = APDUReader(try reader.counted(), part: "the meter's configuration")
    id = try event.u16()
    let count = try event.u16()
    var objects = APDUReader(try event.counted(), part: "the meter's configuration")
    for _ in 0..<count {
      let objectClass = try objects.u16()
      let handle = try objects.u16()
      _ = try objects.attributes()
      if objectClass == 0x003D, store == nil { store = handle }
    }
  }
}
