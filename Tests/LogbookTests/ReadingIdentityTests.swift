// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct ReadingIdentityTests {
  private static let meter = Device(vendor: "Abbott", model: "Libre 3", serial: "AAAA-1", format: "libreview")
  private static let diary = Device(vendor: "mySugr", model: "mySugr", format: "mysugr")

  private func identity(
    _ device: Device, _ kind: ReadingKind = .smbg, positionKind: PositionKind = .time,
    position: Int64 = 1_700_000_000,
    valueBucket: Int64 = 56, occurrence: Int64 = 0
  ) -> ReadingIdentity {
    ReadingIdentity(
      device: device, kind: kind, positionKind: positionKind, position: position, valueBucket: valueBucket,
      occurrence: occurrence)
  }

  @Test func theTextOfAReadingIdentityIsTheExampleInTheManual() {
    #expect(
      identity(Self.meter, .cbg, positionKind: .tick, position: 7, valueBucket: 0, occurrence: 2).text
        == "serial|Abbott|AAAA-1|cbg|tick|7|0|2")
    #expect(identity(Self.diary, valueBucket: -1).text == "model|mysugr|mySugr|smbg|time|1700000000|-1|0")
  }

  @Test func equalIdentitiesAlwaysHaveTheSameUUID() {
    #expect(identity(Self.meter).uuid == "5a977e68-5041-84dc-bbb1-72e47aaa021b")
    #expect(identity(Self.diary).uuid == "c218dff5-352e-8a61-8e66-f4a67507f2a1")
  }

  @Test func keysComputedForManyReadingsEqualThoseOfTheirIdentities() throws {
    let devices = [Self.meter, Self.diary, Device(vendor: "a|b", model: "ü%", format: "")]
    let places: [(Int64, Int64, Int64)] = [
      (0, 0, 0), (1_700_000_000, 56, 0), (-1, -1, 3), (.min, .max, .max), (.max, .min, 10),
    ]
    var keys = ReadingKeys()
    var asked = 0
    // The loops run twice and change the series at each step. `keys` must ask for each series only once.
    for _ in 1...2 {
      for place in places {
        for (device, number) in zip(devices, Int64(1)...) {
          for kind in ReadingKind.allCases {
            let expected = ReadingIdentity(
              device: device, kind: kind, positionKind: .tick, position: place.0, valueBucket: place.1,
              occurrence: place.2
            ).key
            let found = keys.key(
              of: number << 8 | Int64(kind.rawValue), position: place.0, valueBucket: place.1,
              occurrence: place.2
            ) {
              asked += 1
              return (device, kind, .tick)
            }
            #expect(found == expected)
          }
        }
      }
    }
    #expect(asked == devices.count * ReadingKind.allCases.count)
  }

  @Test func withASerialNumberTheIdentityIgnoresModelAndFormat() {
    let renamed = Device(vendor: "Abbott", model: "FreeStyle Libre 3", serial: "AAAA-1", format: "generic")
    #expect(identity(renamed) == identity(Self.meter))
    #expect(identity(renamed).text == identity(Self.meter).text)
  }

  @Test func withoutASerialNumberTheIdentityIgnoresTheVendor() {
    let other = Device(vendor: "Roche", model: "mySugr", format: "mysugr")
    #expect(identity(other) == identity(Self.diary))
  }

  @Test func everyPartOfAReadingIdentityChangesItsTextAndUUID() {
    let identities = [
      identity(Self.meter), identity(Self.diary), identity(Self.meter, .ketone),
      identity(Self.meter, positionKind: .tick),
      identity(Self.meter, position: -1), identity(Self.meter, valueBucket: 57),
      identity(Self.meter, occurrence: 1),
      identity(Device(vendor: "AbbottA", model: "", serial: "AAA-1", format: "")),
      identity(Device(vendor: "Abbott|", model: "", serial: "AAAA-1", format: "")),
      identity(Device(vendor: "Abbott", model: "", serial: "|AAAA-1", format: "")),
    ]
    #expect(Set(identities).count == identities.count)
    #expect(Set(identities.map(\.text)).count == identities.count)
    #expect(Set(identities.map(\.uuid)).count == identities.count)
  }

  @Test(arguments: ["plain", "a|b", "50%", "%7C", "line\nend", "ümlaut 血糖", "", "\u{7F}", "+1"])
  func aReadingIdentityIsReadBackFromItsText(name: String) {
    for device in [
      Device(vendor: name, model: "", serial: "7", format: ""),
      Device(vendor: "", model: name, format: "generic"),
    ] {
      let identity = identity(device, .scan, position: .min, valueBucket: -2, occurrence: 3)
      #expect(ReadingIdentity(text: identity.text) == identity)
      #expect(!identity.text.contains("\n"))
    }
  }

  /// A serial number or model can begin or end with a character that combines with the separator `|` next to
  /// it.
  @Test(arguments: [
    "\u{301}S", "\u{FE0F}", "\u{200D}x", "S\u{600}", "a|b\u{301}", "|\u{301}", "%\u{301}", "\u{1F3FD}",
  ])
  func aCombiningCharacterAfterASeparatorIsKeptInAReadingIdentity(_ text: String) throws {
    for device in [
      Device(vendor: text, model: "M", serial: text, format: "f"),
      Device(vendor: "V", model: text, format: "f"),
    ] {
      let own = identity(device, .cbg, positionKind: .tick, position: 9, valueBucket: 0)
      #expect(ReadingIdentity(text: own.text) == own)
      let series = SeriesName(own)
      #expect(SeriesName(text: series.text) == series)
      let points = [series: PointRuns([SeriesPoint(own)])]
      let guid = "0a1b2c3d-0000-4000-8000-000000000001"
      let withdrawal = Withdrawal(.input(WithdrawnInput(group: guid, points: points)), isHidden: true)
      #expect(Withdrawal(json: withdrawal.fields.json) == withdrawal)
    }
  }

  @Test func aReadingOfABatchTakes56Bytes() { #expect(MemoryLayout<Reading>.stride == 56) }

  @Test(arguments: [
    "", "serial|Abbott|1|smbg|time|5|6", "serial|Abbott|1|smbg|time|5|6|0|", "serial|Abbott||smbg|time|5|6|0",
    "meter|Abbott|1|smbg|time|5|6|0", "serial|Abbott|1|glucose|time|5|6|0",
    "serial|Abbott|1|smbg|place|5|6|0",
    "serial|Abbott|1|smbg|time|+5|6|0", "serial|Abbott|1|smbg|time|05|6|0",
    "serial|Abbott|1|smbg|time|5|6|-1",
    "serial|Abbott|1%|smbg|time|5|6|0", "serial|Abbott|%41|smbg|time|5|6|0",
    "serial|Abbott|%7c|smbg|time|5|6|0",
    "serial|Abbott|1|smbg|time|99999999999999999999|6|0", "serial|a\nb|1|smbg|time|5|6|0",
  ])
  func anInvalidTextOfAReadingIdentityIsRefused(text: String) {
    #expect(ReadingIdentity(text: text) == nil)
  }
}
