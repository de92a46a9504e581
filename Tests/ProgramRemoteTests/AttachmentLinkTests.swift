// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import TestServers
import Testing

/// Tests uploads of attachments over a connection that a proxy cuts after about 100 KB. Program, server and
/// proxy are real processes.
@Suite(.timeLimit(.minutes(10))) struct AttachmentLinkTests {
  /// The size of the attachment in bytes. The environment variable `GLUCOPORT_ATTACHMENT_BYTES` sets it, for
  /// example to 25 MiB for a measurement. The default is smaller, so that the test is fast.
  private static let bytes =
    ProcessInfo.processInfo.environment["GLUCOPORT_ATTACHMENT_BYTES"].flatMap { Int($0) } ?? 3 << 20

  @Test func aNoteAddedDuringALongAttachmentUploadIsSentBeforeItsEnd() async throws {
    let program = try Program()
    let proxy = try CuttingProxy(maxBytes: 100_000) { [path = program.path("out")] in
      let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
      return text?.split(separator: ":").last.flatMap {
        UInt16($0.trimmingCharacters(in: .whitespacesAndNewlines))
      }
    }
    let outcome = try await program.shell(
      ServerScript.clients + """
        parts() { grep 'method=PATCH' log | grep -c 'status=204'; }
        serve
        for name in a b; do login $name; of $name remote set \(proxy.url) --token-file $name.token >>errors; done
        id=$(of a record add note entry --json | sed 's/.*"guid":"\\([^"]*\\)".*/\\1/')
        head -c \(Self.bytes) /dev/urandom >big
        of a record attach $id big --quiet
        of a upload --json >sent & pid=$!
        until [ "$(parts)" -ge 3 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
        of a record add note later --quiet
        wait $pid; echo "sent $?"; note=$(grep -n 'route=/v1/records' log | tail -1 | cut -d : -f 1)
        of b upload --json >fetched; echo "fetched $?"
        of b show $(of b record attachments $id --json | sed 's/.*"guid":"\\([^"]*\\)","entry.*/\\1/') --save got
        cmp big got && echo same; stop >/dev/null
        echo $note; grep -n 'method=PATCH' log | tail -1 | cut -d : -f 1
        cat sent fetched; cat errors 1>&2
        """, within: .seconds(500))
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 7, "\(outcome)")
    #expect(lines[..<3] == ["sent 0", "fetched 0", "same"], "\(outcome)")
    let (note, part) = (Int(lines[3]) ?? 0, Int(lines[4]) ?? 0)
    #expect(note > 0 && note < part, "the note arrived at line \(note) of the log, the last part at \(part)")
    #expect(
      lines[5].contains("\"pushed_records\":3,") && lines[5].contains("\"pushed_attachments\":1,"),
      "\(lines[5])")
    #expect(
      lines[6].contains("\"pulled_attachments\":1,\"pulled_attachment_bytes\":\(Self.bytes)"), "\(lines[6])")
    #expect(proxy.dropCount > Self.bytes / 100_000, "the link dropped \(proxy.dropCount) times")
  }
}
