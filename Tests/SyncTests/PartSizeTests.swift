// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sync

@Suite struct PartSizeTests {
  @Test func aStableConnectionGetsLargerAttachmentParts() {
    var size = PartSize()
    let first = size.current
    for _ in 1..<PartSize.steadyParts { size.succeed() }
    #expect(size.current == first)
    size.succeed()
    #expect(size.current == first * 2)
    for _ in 0..<100 { size.succeed() }
    #expect(size.current == PartSize.maxBytes)
  }

  @Test func anInterruptedConnectionGetsSmallerAttachmentParts() {
    var size = PartSize()
    var sizes: [Int] = []
    for _ in 0..<10 {
      size.halveAfterLostConnection()
      sizes.append(size.current)
    }
    let halves: [Int] = [131_072, 65_536, 32_768, 16_384]
    #expect(Array(sizes.prefix(4)) == halves)
    #expect(sizes.last == PartSize.minBytes)
  }

  @Test func anInterruptionAfterSeveralAttachmentPartsKeepsTheirSize() {
    var size = PartSize()
    let first = size.current
    for _ in 0..<20 {
      for _ in 0..<3 { size.succeed() }
      size.halveAfterLostConnection()
    }
    #expect(size.current == first)
  }

  @Test func anAttachmentPartOfTheMinimumSizeIsNotHalved() {
    var size = PartSize()
    while size.halve() {}
    #expect(size.current == PartSize.minBytes)
    var small = PartSize(maxBytes: 100)
    #expect(small.current == 100 && !small.halve())
    for _ in 0..<100 { small.succeed() }
    #expect(small.current == 100)
  }
}
