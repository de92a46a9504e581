// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook

/// Replaces the kernel at the device file of one device: answers a program's ioctl calls, which umockdev's
/// library passes on.
///
/// Unchecked: the device and all variables are only used with the lock.
package final class DeviceServer: @unchecked Sendable {
  private let lock = NSLock()
  private let device: SimulatedDevice
  private let drivers: [KernelDriver]
  private var socket: SocketServer?
  private var bound: [UInt8: String] = [:]
  private var happened: [String] = []
  private var halted: Set<UInt8> = []

  init(_ device: SimulatedDevice, drivers: [KernelDriver], socket path: String) throws {
    self.device = device
    self.drivers = drivers
    for driver in drivers { for interface in driver.interfaces { bound[interface] = driver.name } }
    socket = try SocketServer(at: path) { [weak self] in self?.serve($0) }
  }

  /// The program's actions on the device except transfers, in order: `detach 0`, `claim 0`, `attach 0`.
  package var events: [String] { lock.withLock { happened } }
  /// The kernel's current drivers by interface.
  package var boundDrivers: [UInt8: String] { lock.withLock { bound } }
  /// The number of packets in both directions.
  package var steps: Int { lock.withLock { device.session.steps } }

  package func stop() { socket?.stop() }

  private func serve(_ connection: Int32) {
    var session = Session(memory: ProgramMemory(connection))
    while let call = session.memory.nextCall() {
      let isWaiting = lock.withLock {
        let result = answer(call, &session)
        return session.prepare(result, isReap: call.request & 0xFFFF_FFFF == 0x4008_550D)
      }
      // The device file is a plain file, on which a program cannot wait. Without this pause, the program
      // would ask in a busy loop.
      if isWaiting { usleep(1000) }
      session.reply()
    }
    lock.withLock {
      if !session.claimed.isEmpty { happened.append("dropped") }
    }
  }
}

/// The state of one open device file: claimed interfaces and active transfers.
private struct Session {
  struct Transfer {
    let address: UInt64
    let kind: UInt8
    let endpoint: UInt8
    let buffer: UInt64
    let length: Int
    var status: Int32 = 0
    var data: [UInt8] = []
    var actual = 0
  }

  let memory: ProgramMemory
  var claimed: Set<UInt8> = []
  var pending: [Transfer] = []
  var ended: [Transfer] = []
  private var result: Int32 = 0
  /// Whether no transfer had ended when the program last asked.
  private var isDry = false

  init(memory: ProgramMemory) { self.memory = memory }

  /// Stores the result of a call. Returns whether the program must wait before it gets the result, because
  /// it has asked twice in vain. After a program has received something, it asks once more before it
  /// continues. This request must be answered at once.
  mutating func prepare(_ result: Int32, isReap: Bool) -> Bool {
    self.result = result
    let asksAgain = isReap && result == -EAGAIN && !pending.isEmpty
    defer { isDry = asksAgain }
    return asksAgain && isDry
  }

  func reply() { memory.end(result) }
}

extension DeviceServer {
  /// Answers one ioctl call. A negative result is the negated number of an error.
  private func answer(_ call: ProgramMemory.Call, _ session: inout Session) -> Int32 {
    switch call.request & 0xFFFF_FFFF {
    case 0x8004_551A:
      session.memory.write(bytes(UInt32(0x15)), at: call.argument)
      return 0
    case 0x8038_550A: return submit(call.argument, &session)
    case 0x4008_550D, 0x4008_550C: return reap(call.argument, &session)
    case 0x0000_550B: return discard(call.argument, &session)
    case 0x4104_5508: return driver(call.argument, &session)
    case 0xC010_5512: return command(call.argument, &session)
    case 0x8004_550F: return claim(call.argument, &session)
    case 0x8004_5510: return release(call.argument, &session)
    case 0x8004_5515:
      let endpoint = UInt8(truncatingIfNeeded: session.memory.number(at: call.argument))
      halted.remove(endpoint)
      happened.append("clear-halt \(hex(UInt64(endpoint)))")
      return device.isGone ? -ENODEV : 0
    case 0x8004_5505:
      happened.append("set-configuration")
      return bound.isEmpty && session.claimed.isEmpty ? 0 : -EBUSY
    case 0x0000_5514:
      happened.append("reset")
      return 0
    default: return -ENOTTY
    }
  }

  private func submit(_ address: UInt64, _ session: inout Session) -> Int32 {
    guard !device.isGone else { return -ENODEV }
    let urb = session.memory.read(56, at: address)
    guard urb.count == 56 else { return -EFAULT }
    var transfer = Session.Transfer(
      address: address, kind: urb[0], endpoint: urb[1], buffer: number(urb[16..<24]),
      length: Int(number(urb[24..<28])))
    if transfer.kind == 2 {
      let buffer = session.memory.read(transfer.length, at: transfer.buffer)
      guard buffer.count >= 8 else { return -EINVAL }
      let request = ControlRequest(
        type: buffer[0], request: buffer[1], value: UInt16(number(buffer[2..<4])),
        index: UInt16(number(buffer[4..<6])))
      let length = Int(number(buffer[6..<8]))
      happened.append("control \(hex(UInt64(request.type))) \(hex(UInt64(request.request)))")
      let data = request.type & 0x80 == 0 ? Array(buffer[8...].prefix(length)) : []
      finish(&transfer, device.control(request, maxBytes: length, data: data), written: data.count, &session)
      return 0
    }
    guard transfer.endpoint & 0x80 == 0 else {
      session.pending.append(transfer)
      return 0
    }
    let data = session.memory.read(transfer.length, at: transfer.buffer)
    finish(&transfer, device.accept(data, endpoint: transfer.endpoint), written: data.count, &session)
    return 0
  }

  /// Ends a transfer with the device's answer, or keeps it pending if there is no answer.
  private func finish(
    _ transfer: inout Session.Transfer, _ answer: WireAnswer, written: Int, _ session: inout Session
  ) {
    switch answer {
    case .data(let data):
      transfer.data = data
      transfer.actual = data.count
      let room = transfer.kind == 2 ? transfer.length - 8 : transfer.length
      if data.count > room {
        transfer.status = -EOVERFLOW
        transfer.data = Array(data.prefix(room))
        transfer.actual = room
      }
    case .accepted: transfer.actual = written
    case .stall: transfer.status = -EPIPE
    case .gone: transfer.status = -ESHUTDOWN
    case .nothing:
      session.pending.append(transfer)
      return
    }
    session.ended.append(transfer)
  }

  /// Lets the device answer pending transfers, in their order at each endpoint.
  private func progress(_ session: inout Session) {
    let waiting = session.pending
    session.pending = []
    var dry = halted
    for var transfer in waiting {
      if device.isGone {
        finish(&transfer, .gone, written: 0, &session)
      } else if transfer.endpoint & 0x80 == 0 || dry.contains(transfer.endpoint) {
        session.pending.append(transfer)
      } else {
        let answer = device.nextPacket(endpoint: transfer.endpoint, maxBytes: transfer.length)
        if answer == .nothing || answer == .stall { dry.insert(transfer.endpoint) }
        if answer == .stall { halted.insert(transfer.endpoint) }
        finish(&transfer, answer, written: 0, &session)
      }
    }
  }

  private func reap(_ argument: UInt64, _ session: inout Session) -> Int32 {
    if session.ended.isEmpty { progress(&session) }
    guard !session.ended.isEmpty else { return device.isGone ? -ENODEV : -EAGAIN }
    let transfer = session.ended.removeFirst()
    let offset: UInt64 = transfer.kind == 2 ? 8 : 0
    if !transfer.data.isEmpty { session.memory.write(transfer.data, at: transfer.buffer + offset) }
    session.memory.write(bytes(UInt32(bitPattern: transfer.status)), at: transfer.address + 4)
    session.memory.write(bytes(UInt32(transfer.actual)), at: transfer.address + 28)
    session.memory.write(bytes(transfer.address), at: argument)
    return 0
  }

  private func discard(_ address: UInt64, _ session: inout Session) -> Int32 {
    guard let index = session.pending.firstIndex(where: { $0.address == address }) else { return -EINVAL }
    var transfer = session.pending.remove(at: index)
    transfer.status = -ENOENT
    session.ended.append(transfer)
    return 0
  }

  private func driver(_ address: UInt64, _ session: inout Session) -> Int32 {
    let interface = UInt8(truncatingIfNeeded: session.memory.number(at: address))
    let own = session.claimed.contains(interface) ? "usbfs" : nil
    guard let name = bound[interface] ?? own else { return -ENODATA }
    session.memory.write(Array(name.utf8) + [0], at: address + 4)
    return 0
  }

  /// Handles the usbfs commands DISCONNECT and CONNECT, which a program sends by the same ioctl call.
  private func command(_ address: UInt64, _ session: inout Session) -> Int32 {
    guard !device.isGone else { return -ENODEV }
    let request = session.memory.read(16, at: address)
    guard request.count == 16 else { return -EFAULT }
    let interface = UInt8(truncatingIfNeeded: number(request[0..<4]))
    let driver = drivers.first { $0.interfaces.contains(interface) }
    switch number(request[4..<8]) {
    case 0x5516:
      guard bound[interface] != nil, let driver else { return -ENODATA }
      for interface in driver.interfaces { bound[interface] = nil }
      happened.append("detach \(interface)")
      return 0
    case 0x5517:
      happened.append("attach \(interface)")
      guard bound[interface] == nil else { return -EBUSY }
      guard let driver, driver.interfaces.first == interface,
        session.claimed.isDisjoint(with: driver.interfaces)
      else { return 0 }
      for interface in driver.interfaces { bound[interface] = driver.name }
      return 1
    default: return -ENOTTY
    }
  }

  private func claim(_ address: UInt64, _ session: inout Session) -> Int32 {
    guard !device.isGone else { return -ENODEV }
    let interface = UInt8(truncatingIfNeeded: session.memory.number(at: address))
    guard bound[interface] == nil else { return -EBUSY }
    session.claimed.insert(interface)
    happened.append("claim \(interface)")
    return 0
  }

  private func release(_ address: UInt64, _ session: inout Session) -> Int32 {
    let interface = UInt8(truncatingIfNeeded: session.memory.number(at: address))
    guard session.claimed.remove(interface) != nil else { return -EINVAL }
    happened.append("release \(interface)")
    return device.isGone ? -ENODEV : 0
  }

  private func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian, Array.init)
  }

  private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func hex(_ number: UInt64) -> String { String(number, radix: 16) }
}
