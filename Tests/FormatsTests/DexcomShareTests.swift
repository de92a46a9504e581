// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct DexcomShareTests {
  @Test func anOffsetNeverChangesTheInstant() throws {
    let export = try TextExport(bytes: TextExport.sample("dexcom-share/share.json"), zone: "Europe/Madrid")
    #expect(export.readings.map(\.position) == [1_770_369_455_000, 1_770_369_155_000, 1_770_368_855_000])
    #expect(export.readings.map(\.placement.utcOffset) == [-28800, 3600, 0])
  }

  @Test func otherObjectsWithAValueAreNotRecognisedAsShare() throws {
    for text in [
      #"[{"WT":"2026","Value":175,"Trend":"Flat"}]"#, #"[{"WT":"Date(1770369455000)","Value":175}]"#,
    ] {
      let head = try InputHead(text: Array(text.utf8), isWhole: true)
      let options = ExportOptions(zone: try LogbookZone(name: "UTC"), now: nil)
      #expect(DexcomShareFormat.recognise(head, options: options) == nil)
    }
  }
}
