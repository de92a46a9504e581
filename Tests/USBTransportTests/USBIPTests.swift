// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SimulatedUSB
import Testing

/// Tests the messages of a simulated device to the kernel by USB/IP.
struct USBIPTests {
  /// The kernel's end of a connection to an echo meter.
  private final class Kernel {
    private let end: Int32

    init(fault: Fault? = nil) throws {
      var ends: [Int32] = [0, 0]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      let (own, device) = (ends[0], ends[1])
      end = own
      // A silent server fails a test instead of blocking it.
      var limit = timeval(tv_sec: 10, tv_usec: 0)
      setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      Thread.detachNewThread {
        USBIPConnection(SimulatedDevice(EchoMeter.hid(), fault: fault), over: device).serve()
        close(device)
      }
    }

    deinit { close(end) }

    func submit(
      _ number: UInt32, _ endpoint: UInt32, isIn: Bool, length: Int, setup: [UInt8] = [], data: [UInt8] = []
    ) {
      let words = [1, number, 65538, isIn ? 1 : 0, endpoint, 0, UInt32(length), 0, 0, 0]
      write(words, setup + [UInt8](repeating: 0, count: 8 - setup.count) + data)
    }

    func unlink(_ number: UInt32, of transfer: UInt32) {
      write([2, number, 65538, 0, 0, transfer, 0, 0, 0, 0], [UInt8](repeating: 0, count: 8))
    }

    /// Command, number, status and length of an answer, and its data; empty if the connection was closed.
    func answer(hasData: Bool) -> (words: [Int32], data: [UInt8]) {
      let head = read(48)
      guard head.count == 48 else { return ([], []) }
      let words = [0, 4, 20, 24].map { start in
        Int32(bitPattern: head[start..<(start + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
      }
      return (words, hasData ? read(Int(words[3])) : [])
    }

    private func write(_ words: [UInt32], _ rest: [UInt8]) {
      let bytes = words.flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) } + rest
      _ = Glibc.write(end, bytes, bytes.count)
    }

    private func read(_ count: Int) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: count)
      return recv(end, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : []
    }
  }

  @Test func theSimulatedUSBHostReadsDescriptorsByControlRequests() throws {
    let kernel = try Kernel()
    kernel.submit(7, 0, isIn: true, length: 18, setup: [0x80, 6, 0, 1, 0, 0, 18, 0])
    let answer = kernel.answer(hasData: true)
    #expect(answer.words == [3, 7, 0, 18])
    #expect(answer.data == EchoMeter.hid().deviceDescriptor)
  }

  @Test func aUSBIPTransferWaitsUntilTheDeviceHasData() throws {
    let kernel = try Kernel()
    kernel.submit(1, 1, isIn: true, length: 64)
    kernel.submit(2, 2, isIn: false, length: 3, data: [1, 2, 3])
    #expect(kernel.answer(hasData: false).words == [3, 2, 0, 3])
    let answer = kernel.answer(hasData: true)
    #expect(answer.words[..<3] == [3, 1, 0] && answer.data.starts(with: [1, 2, 3]))
  }

  @Test func aWaitingUSBIPTransferIsCancelled() throws {
    let kernel = try Kernel()
    kernel.submit(1, 1, isIn: true, length: 64)
    kernel.unlink(2, of: 1)
    #expect(kernel.answer(hasData: false).words[..<3] == [4, 2, -ECONNRESET])
    kernel.unlink(3, of: 1)
    #expect(kernel.answer(hasData: false).words[..<3] == [4, 3, 0], "it is over already")
  }

  @Test func aUSBIPRequestThatTheDeviceRefusesStalls() throws {
    let kernel = try Kernel()
    kernel.submit(1, 0, isIn: true, length: 4, setup: [0xC0, 0x77, 0, 0, 0, 0, 4, 0])
    #expect(kernel.answer(hasData: false).words == [3, 1, -EPIPE, 0])
  }

  @Test func anUnpluggedDeviceClosesItsUSBIPConnection() throws {
    let kernel = try Kernel(fault: Fault(.unplug, at: 1))
    kernel.submit(1, 2, isIn: false, length: 1, data: [1])
    #expect(kernel.answer(hasData: false).words == [3, 1, 0, 1])
    #expect(kernel.answer(hasData: false).words == [])
  }
}
