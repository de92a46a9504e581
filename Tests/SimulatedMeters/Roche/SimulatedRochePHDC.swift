// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// An Accu-Chek meter of the Personal Healthcare Device Class: IEEE 11073-20601 messages over a pair of bulk
/// endpoints.
///
/// These details of real meters are unknown and were chosen for the simulation:
/// - the content of the association request, and of the configuration except for the memory
/// - every model describes its memory like a Guide
/// - the number of entries in a report
/// - an abort is the answer to a message out of order
package final class SimulatedRochePHDC: SimulatedMeter {
  /// A model with its USB product id, its printed name and the number in its identification.
  package enum Model: CaseIterable, Sendable {
    case guide, guideMe, instant, avivaConnect

    package var productID: UInt16 {
      switch self {
      case .guide: 0x21D5
      case .guideMe: 0x21D6
      case .instant: 0x21D7
      case .avivaConnect: 0x21CF
      }
    }

    package var number: String {
      switch self {
      case .guide: "925"
      case .guideMe: "897"
      case .instant: "958"
      case .avivaConnect: "483"
      }
    }

    package var product: String {
      switch self {
      case .guide: "ACCU-CHEK Guide"
      case .guideMe: "ACCU-CHEK Guide Me"
      case .instant: "ACCU-CHEK Instant"
      case .avivaConnect: "ACCU-CHEK Aviva Connect"
      }
    }
  }

  /// The state of the session.
  package enum State: Hashable, Sendable {
    /// The host has not fetched the association request yet.
    case plugged
    case asking, configuring, operating, released, aborted
    /// The meter has been plugged in for a long time and sends no more requests.
    case silent
  }

  package let deviceDescriptor: [UInt8]
  package let configurationDescriptor: [UInt8]
  package let strings: [String]
  package private(set) var state: State
  package private(set) var memory: SimulatedMemory

  private static let manufacturer = "Roche"
  private static let storeHandle = 5
  private let model: Model
  private let entriesInReport: Int
  /// Whether the meter describes its attributes and segments. A meter without a description still has its
  /// segments.
  private let describesItself: Bool
  /// Whether answers state the number of their segment. Two known programs do not check this number, and a
  /// real meter may always state 0.
  private let namesInstances: Bool
  private var segments: [RocheSegment]
  private var outgoing: [[UInt8]] = []
  private var incoming: [UInt8] = []
  /// The number of the last report. Numbers continue from earlier sessions.
  private var reportID = 0x00A3
  /// The current transfer: the segment, the first entry that the host has not confirmed, and the number of
  /// sent entries.
  private var transfer: (segment: Int, next: Int, sent: Int)?

  package init(
    _ memory: SimulatedMemory, model: Model = .guide, entriesInReport: Int = 30, describesItself: Bool = true,
    isLeftPlugged: Bool = false, hundredths: UInt8 = 0, namesInstances: Bool = true
  ) {
    self.namesInstances = namesInstances
    self.memory = memory
    self.model = model
    self.entriesInReport = entriesInReport
    self.describesItself = describesItself
    state = isLeftPlugged ? .silent : .plugged
    segments = RocheSegment.all(memory.items.filter(Self.holds), hundredths: hundredths)
    strings = [
      Self.manufacturer, model.product, "FS configuration", "Personal Healthcare Device Class",
    ]
    deviceDescriptor = BuiltDescriptors.device(vendorID: 0x173A, productID: model.productID, serial: 0)
    configurationDescriptor = Self.configuration
  }

  /// Whether the meter can store the item: glucose with the marks for control solution and meals.
  package static func holds(_ item: SimulatedItem) -> Bool {
    item.kind == .smbg
      && item.marks.isSubset(of: [.controlSolution, .beforeMeal, .afterMeal, .fasting, .bedtime])
  }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer { .stall }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    guard endpoint == 0x01 else { return false }
    incoming += packet
    while let length = RocheAPDU.number(incoming, at: 2), incoming.count >= length + 4 {
      receive(incoming.takeFirst(length + 4))
    }
    return true
  }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    guard endpoint == 0x81 else { return .stall }
    if state == .plugged {
      outgoing.append(Self.associationRequest)
      state = .asking
    }
    guard var message = outgoing.first else { return .nothing }
    let piece = message.takeFirst(maxBytes)
    if message.isEmpty { outgoing.removeFirst() } else { outgoing[0] = message }
    return .data(piece)
  }
}

// MARK: - Session

extension SimulatedRochePHDC {
  private func receive(_ message: [UInt8]) {
    guard state != .silent, state != .aborted, state != .released else { return }
    switch RocheAPDU.number(message, at: 0) {
    case 0xE300: associate(message)
    case 0xE400:
      outgoing.append(RocheAPDU.message(0xE500, [0, 0]))
      state = .released
    case 0xE600: state = .aborted
    case 0xE700 where state == .configuring || state == .operating:
      guard let id = RocheAPDU.number(message, at: 6), let choice = RocheAPDU.number(message, at: 8) else {
        return abort()
      }
      receive(message, id: id, choice: choice)
    default: abort()
    }
  }

  /// Answers a host that accepts the association with result 0003, which requests the configuration. A host
  /// that requests the configuration twice gets it twice.
  private func associate(_ message: [UInt8]) {
    guard state == .asking || state == .configuring, message.count == 48,
      RocheAPDU.number(message, at: 4) == 3, RocheAPDU.number(message, at: 6) == 0x5079,
      RocheAPDU.number(message, at: 8) == 0x0026
    else { return abort() }
    state = .configuring
    let store =
      [0x003D, Self.storeHandle, 2, 0x000C].flatMap(RocheAPDU.word)
      + RocheAPDU.attribute(0x0921, [0x01, 0x00])
      + RocheAPDU.attribute(0x0951, RocheAPDU.word(segments.count))
    let glucose = [6, 1, 1, 6].flatMap(RocheAPDU.word) + RocheAPDU.attribute(0x092F, [0x71, 0x44])
    let objects = glucose + store
    report(0, 0x0D1C, [0x4000, 2, objects.count].flatMap(RocheAPDU.word) + objects)
  }

  private func receive(_ message: [UInt8], id: Int, choice: Int) {
    let handle = RocheAPDU.number(message, at: 12) ?? -1
    switch (state, choice) {
    case (.configuring, 0x0201):
      let content = Array(message.dropFirst(12))
      guard content == [UInt8](repeating: 0, count: 6) + [0x0D, 0x1C, 0, 4, 0x40, 0, 0, 0] else {
        return abort()
      }
      state = .operating
    case (.operating, 0x0103) where handle == 0:
      outgoing.append(RocheAPDU.data(id, 0x0203, RocheAPDU.word(0) + attributes))
    case (.operating, 0x0107): act(message, id: id, handle: handle)
    case (.operating, 0x0201) where handle == Self.storeHandle: acknowledge(message)
    default: abort()
    }
  }

  private func act(_ message: [UInt8], id: Int, handle: Int) {
    let arguments = Array(message.dropFirst(18))
    switch (RocheAPDU.number(message, at: 14), handle) {
    case (0x0C0D, Self.storeHandle) where arguments == [0, 1, 0, 2, 0, 0]:
      answer(id, handle, 0x0C0D, information)
    case (0x0C1C, Self.storeHandle) where arguments.count == 2:
      start(RocheAPDU.number(arguments, at: 0) ?? 0, id: id)
    case (0x0C17, 0) where arguments.count == 12:
      guard let time = RocheAPDU.time(arguments) else { return refuse(id) }
      memory.clock = time
      answer(id, handle, 0x0C17, [])
    default: refuse(id)
    }
  }

  private func start(_ segment: Int, id: Int) {
    let entries = segments.first { $0.instance == segment }?.entries
    let result = entries.map { $0.isEmpty ? 3 : 0 } ?? 1
    answer(id, Self.storeHandle, 0x0C1C, RocheAPDU.word(named(segment)) + RocheAPDU.word(result))
    guard result == 0 else { return }
    transfer = (segment, 0, 0)
    sendReport()
  }

  /// The segment number that an answer states.
  private func named(_ segment: Int) -> Int { namesInstances ? segment : 0 }

  /// Sends the next entries, after the host has confirmed those before.
  private func sendReport() {
    guard var transfer, let entries = segments.first(where: { $0.instance == transfer.segment })?.entries
    else {
      return
    }
    let part = entries.dropFirst(transfer.next).prefix(entriesInReport)
    transfer.sent = part.count
    self.transfer = transfer
    let isFirst = transfer.next == 0
    let isLast = transfer.next + part.count == entries.count
    let status = (isFirst ? 0x8000 : 0) | (isLast ? 0x4000 : 0)
    let body = part.flatMap { $0 }
    report(
      Self.storeHandle, 0x0D21,
      RocheAPDU.word(named(transfer.segment)) + RocheAPDU.long(transfer.next) + RocheAPDU.long(part.count)
        + RocheAPDU.word(status) + RocheAPDU.word(body.count) + body)
  }

  private func acknowledge(_ message: [UInt8]) {
    guard var transfer, RocheAPDU.number(message, at: 6) == reportID else { return abort() }
    let place =
      RocheAPDU.word(named(transfer.segment)) + RocheAPDU.long(transfer.next)
      + RocheAPDU.long(transfer.sent)
    let expected = [0xFF, 0xFF, 0xFF, 0xFF, 0x0D, 0x21, 0x00, 0x0C] + place + [0x00, 0x80]
    guard Array(message.dropFirst(14)) == expected else { return abort() }
    transfer.next += transfer.sent
    let count = segments.first { $0.instance == transfer.segment }?.entries.count ?? 0
    self.transfer = transfer.next < count ? transfer : nil
    sendReport()
  }
}

// MARK: - Messages

extension SimulatedRochePHDC {
  private static let associationRequest: [UInt8] = {
    let system: [UInt8] = [0x00, 0x60, 0x19, 0x00, 0x00, 0x00, 0x00, 0x42]
    let description: [UInt8] =
      [0x80, 0x00, 0x00, 0x00, 0x80, 0x00, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x80, 0, 0, 0x00, 0x08] + system
      + [0x40, 0x00, 0x00, 0x01, 0x01, 0x00, 0, 0, 0, 0]
    return RocheAPDU.message(
      0xE200, [0x80, 0, 0, 0, 0x00, 0x01, 0x00, 0x2A, 0x50, 0x79, 0x00, 0x26] + description)
  }()

  private static let configuration: [UInt8] = {
    let quality: [UInt8] = [4, 0x21, 1, 8]
    let endpoint = { (address: UInt8, name: String) in
      let text = Array("Roche PHDC \(name)".utf8) + [0]
      return BuiltDescriptors.Endpoint(
        address: address, type: 2, size: 64, extra: quality + [UInt8(text.count + 2), 0x22] + text)
    }
    return BuiltDescriptors.configuration(
      [
        BuiltDescriptors.interface(
          class: (0x0F, 0, 0), string: 4, extra: [4, 0x20, 2, 0, 6, 0x30, 0, 1, 0x11, 0x10],
          [endpoint(0x81, "Tx"), endpoint(0x01, "Rx")])
      ], string: 3)
  }()

  /// Sends an event report with the next number of the meter's reports.
  private func report(_ handle: Int, _ type: Int, _ content: [UInt8]) {
    reportID = (reportID + 1) & 0xFFFF
    outgoing.append(
      RocheAPDU.data(
        reportID, 0x0101,
        RocheAPDU.word(handle) + [0xFF, 0xFF, 0xFF, 0xFF] + RocheAPDU.word(type)
          + RocheAPDU.word(content.count)
          + content))
  }

  private func answer(_ id: Int, _ handle: Int, _ type: Int, _ content: [UInt8]) {
    outgoing.append(
      RocheAPDU.data(
        id, 0x0207, [handle, type, content.count].flatMap(RocheAPDU.word) + content))
  }

  /// Refuses a request with the error for an unknown action.
  private func refuse(_ id: Int) { outgoing.append(RocheAPDU.data(id, 0x0300, [0x00, 0x09, 0, 0])) }

  private func abort() {
    outgoing.append(RocheAPDU.message(0xE600, [0, 0]))
    state = .aborted
  }

  /// The attributes of the meter. Before them are their number and their size in bytes.
  private var attributes: [UInt8] {
    guard describesItself else { return [0, 0, 0, 0] }
    let list: [[UInt8]] = [
      RocheAPDU.attribute(0x0928, text(Self.manufacturer) + text(model.number)),
      RocheAPDU.attribute(0x0984, [0x00, 0x08, 0x00, 0x60, 0x19, 0x00, 0x00, 0x00, 0x00, 0x42]),
      RocheAPDU.attribute(0x0A44, [0x40, 0x00]), RocheAPDU.attribute(0x092D, specification),
      RocheAPDU.attribute(0x0987, RocheAPDU.time(memory.clock)),
      RocheAPDU.attribute(0x0A45, [0xC0, 0, 0x1F, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0x64, 0, 0, 0, 0, 0, 0]),
      RocheAPDU.attribute(
        0x0A4B, [0, 2, 0, 0x12, 2, 1, 0, 8, 4, 1, 0, 1, 0, 2, 0x20, 0x11, 2, 2, 0, 2, 0, 0]),
      RocheAPDU.attribute(0x0A5A, [0, 1, 0, 4, 0x10, 0x11, 0, 2]),
    ]
    let bytes = Array(list.joined())
    return RocheAPDU.word(list.count) + RocheAPDU.word(bytes.count) + bytes
  }

  /// Serial number, hardware and firmware, in texts of an even length.
  private var specification: [UInt8] {
    let entries: [(type: Int, component: Int, text: [UInt8])] = [
      (1, 0, text("serial-number: \(memory.serial)", hasLength: false)),
      (3, 0x1000, Array("hw-revision: G".utf8) + [0, 0, 0, 0]),
      (5, 0, text("fw-revision: \(memory.firmware)", hasLength: false)),
    ]
    var body: [UInt8] = []
    for entry in entries {
      body += [entry.type, entry.component, entry.text.count].flatMap(RocheAPDU.word) + entry.text
    }
    return RocheAPDU.word(entries.count) + RocheAPDU.word(body.count) + body
  }

  /// A text, with a zero byte added for an even length.
  private func text(_ text: String, hasLength: Bool = true) -> [UInt8] {
    let bytes = Array(text.utf8) + (text.utf8.count % 2 == 0 ? [] : [0])
    return (hasLength ? RocheAPDU.word(bytes.count) : []) + bytes
  }

  private var information: [UInt8] {
    guard describesItself else { return [] }
    let list = segments.flatMap(\.information)
    return RocheAPDU.word(segments.count) + RocheAPDU.word(list.count) + list
  }
}
