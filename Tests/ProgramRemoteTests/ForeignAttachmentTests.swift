// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests attachment records with invalid fields. They come from an imported file or from another node.
@Suite(.timeLimit(.minutes(10))) struct ForeignAttachmentTests {
  private static let good =
    "{\"name\":\"x\",\"sha256\":\"\(String(repeating: "a", count: 64))\",\"size\":0,\"type\":\"text/plain\"}"

  private static let odd = [
    #"{"name":7,"sha256":"../../x","type":true}"#, #"{"sha256":5}"#, #"{}"#,
    #"{"name":"n","sha256":"../../x","size":100000000000000000000,"type":"t"}"#,
    #"{"name":["n"],"sha256":["../../x"],"size":-5,"subtype":7,"type":"t"}"#,
  ]

  private static func row(_ fields: String, _ number: Int, deleted: Bool = false) -> String {
    """
    {"item":"record","kind":"attachment","device_time":"2026-03-30T09:30:00","utc_offset":"Z",\
    "offset_source":"stated","guid":"20000000-0000-4000-8000-00000000000\(number)","entry_guid":"e",\
    "fields":\(fields),"deleted":\(deleted)}
    """
  }

  @Test func anImportRejectsInvalidAttachmentsWithTheirLines() async throws {
    let program = try Program()
    let rows = ([Self.good] + Self.odd).enumerated().map { Self.row($1, $0) }
    let path = try program.write(
      (rows + [Self.row("{}", 9, deleted: true)]).joined(separator: "\n") + "\n", to: "in.ndjson")
    let outcome = try await program.run("import", path)
    #expect(outcome.status == 3, "\(outcome)")
    for line in 2...6 {
      #expect(outcome.errors.contains("in.ndjson:\(line): the '"), "\(outcome.errors)")
    }
    #expect(!outcome.errors.contains("../x"), "the fields are nobody's business")
    #expect(try StoreFile(program.store).count("record WHERE kind = 'attachment'") == 2)
  }

  /// Another program wrote invalid attachments into the store of one node. All other nodes must accept these
  /// records and continue.
  @Test func invalidAttachmentsFromAnotherStoreAreShownAndNeverFetched() async throws {
    let program = try Program()
    try program.write(Self.odd.joined(separator: "\n"), to: "odd")
    let outcome = try await program.shell(
      ServerScript.clients + """
        serve; connect a; connect b; of a record add note entry --quiet
        entry=$(sqlite3 a.db 'SELECT guid FROM record'); number=0
        add() {
          number=$((number + 1)); guid=20000000-0000-4000-8000-00000000000$number
          sqlite3 a.db "INSERT INTO record (guid, kind, entry_guid, device_time, utc_offset, offset_source, fields)
            VALUES ('$guid', '$1', '$entry', 1774863000, 0, 1, '$2')"
        }
        while read -r fields || [ -n "$fields" ]; do add attachment "$fields"; done <odd
        add note '{"subtype":7,"text":8}'
        upload a --quiet; upload b --quiet; of b record list | wc -l; of b list --long | wc -l
        of b record attachments $entry | grep -c 'names no content'
        of b record attachments $entry --json | jq -c '[.name, .type, .size, .sha256, .content]'
        for number in 1 2 3 4 5 6; do
          guid=20000000-0000-4000-8000-00000000000$number
          of b show $guid >/dev/null; of b show $guid --json | jq -r .guid
          of b show $guid --save saved 2>>told; echo $?; of b queue add attachment $guid 2>>told; echo $?
        done
        of b queue list; of b upload --json | jq .requests; ls saved 2>/dev/null
        stop >/dev/null; cat errors 1>&2
        """)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 29, "\(outcome)")
    #expect(Array(lines[0...4]) == ["a 0", "b 0", "7", "7", "5"], "\(outcome)")
    #expect(
      Set(lines[5...9]) == [
        #"["","",0,"","missing"]"#, #"["n","t",0,"","missing"]"#, #"["","t",0,"","missing"]"#,
      ], "\(outcome)")
    for number in 1...6 {
      let status = number == 6 ? "64" : "65"
      let start = 7 + number * 3
      #expect(
        Array(lines[start..<start + 3])
          == ["20000000-0000-4000-8000-00000000000\(number)", status, "65"], "\(number): \(outcome)")
    }
    #expect(lines[28] == "1", "\(outcome)")
    #expect(outcome.errors == "", "\(outcome)")
    let told = try String(contentsOfFile: program.path("told"), encoding: .utf8)
    #expect(told.contains("names no content") && !told.contains("../x"), "\(told)")
  }
}
