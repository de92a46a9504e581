// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import Meters
import Remotes
import Testing

/// Tests that each source of items has a stated role, since the role decides which of two equal items counts.
@Suite struct SourceRoleTests {
  /// The ids of all formats, drivers and kinds of remotes.
  private static let registered =
    Set(FormatRegister.all.map(\.id)).union(DriverRegister.all.map { $0.id }).union(
      RemoteRegister.all.map(\.id))

  @Test func everyRegisteredSourceHasExactlyOneStatedRole() {
    #expect(Self.registered.count > 50)
    for id in Self.registered.sorted() {
      let roles = CountingSource.statedRoles.filter { $0.value.contains(id) }.map(\.key)
      #expect(roles == [CountingSource(format: id).role], "\(id)")
    }
  }

  @Test func everySourceWithAStatedRoleIsRegistered() {
    // Items that a person types into glucoport come from no format.
    let known = Self.registered.union([Device.typed.format])
    for (role, ids) in CountingSource.statedRoles {
      #expect(ids.subtracting(known).sorted() == [], "\(role)")
    }
    #expect(!known.contains("unregistered"))
  }

  @Test func onlyCollectorsRelayValuesOfSensors() {
    let collectors = CountingSource.statedRoles[.collector] ?? []
    #expect(!CountingSource.statedRelays.isEmpty)
    #expect(CountingSource.statedRelays.subtracting(collectors) == [])
  }

  @Test func aSourceInNoListOfRolesIsAnApp() {
    #expect(CountingSource(format: "unregistered").role == .app)
    #expect(CountingSource(format: "").role == .unknown)
  }
}
