// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LogbookServer

/// Tests which connection the server closes if there are too many.
@Suite struct ConnectionTableTests {
  @Test func oneClientAddressIsLimitedToItsShareEvenIfAllItsConnectionsAreBusy() {
    var table = ConnectionTable<Int>(max: 8, perAddress: 3)
    for id in 0..<3 {
      #expect(table.add(id, from: "a") == nil)
      table.update(id, isWorking: true)
    }
    #expect(table.add(3, from: "a") == 3, "the new one, since the others work")
    #expect(table.count == 3)
    #expect(table.add(4, from: "b") == nil, "others have room")
    table.update(1, isWorking: false)
    #expect(table.add(5, from: "a") == 1, "its own silent one")
    #expect(table.count == 4)
  }

  @Test func aClientAddressAtItsLimitClosesOnlyItsOwnConnections() {
    var table = ConnectionTable<Int>(max: 8, perAddress: 3)
    for id in 0..<4 { #expect(table.add(id, from: "quiet \(id)") == nil) }
    for id in 10..<13 { #expect(table.add(id, from: "a") == nil) }
    for id in 13..<40 { #expect(table.add(id, from: "a") == id - 3, "its own oldest") }
    #expect(table.count == 7)
  }

  @Test func atTheTotalLimitTheAddressWithMostSilentConnectionsLosesItsOldestConnection() {
    var table = ConnectionTable<Int>(max: 4, perAddress: 3)
    #expect(table.add(0, from: "a") == nil)
    for id in 1..<4 { #expect(table.add(id, from: "b") == nil) }
    #expect(table.add(4, from: "c") == 1)
    table.update(2, isWorking: true)
    table.update(3, isWorking: true)
    #expect(table.add(5, from: "d") == 0, "all have one silent one, and it is the oldest")
    for id in [4, 5] { table.update(id, isWorking: true) }
    #expect(table.add(6, from: "e") == 6, "all work")
    table.remove(4)
    #expect(table.add(7, from: "e") == nil)
  }
}
