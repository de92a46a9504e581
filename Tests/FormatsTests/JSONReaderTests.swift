// SPDX-License-Identifier: Apache-2.0

import Archives
import Testing

@testable import Formats

@Suite struct JSONReaderTests {
  /// The result for a text. Each row is its fields joined by `|`, where `~` is an absent field. `cut` is
  /// where a truncated text ended.
  private struct Outcome: Equatable {
    var rows: [String] = []
    var rejections: [String] = []
    var cut: String?
  }

  /// Returns a text in pieces, as a pipe does.
  private final class PieceSource: ByteSource {
    private var rest: ArraySlice<UInt8>
    private let size: Int

    init(_ text: String, size: Int) {
      rest = Array(text.utf8)[...]
      self.size = size
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
      if rest.isEmpty { return .end }
      let piece = rest.prefix(min(size, buffer.count))
      buffer.copyBytes(from: piece)
      rest = rest.dropFirst(piece.count)
      return .bytes(piece.count)
    }
  }

  private func read(_ text: String, _ columns: [String], pieces: Int = 1 << 20) throws -> Outcome {
    let reader = JSONReader(TextBuffer(PieceSource(text, size: pieces), name: "test"), columns: columns)
    var outcome = Outcome()
    while true {
      switch try reader.next() {
      case .row(let row):
        outcome.rows.append(row.fields.map { $0.shape == .absent ? "~" : $0.text }.joined(separator: "|"))
      case .rejected(let line, let reason): outcome.rejections.append("\(line): \(reason)")
      case .paused: continue
      case .end(let cut):
        outcome.cut = cut.map { "\($0.line): \($0.detail)" }
        return outcome
      }
    }
  }

  @Test func jsonMembersFillTheColumnsInAnyOrderAndNullIsMissing() throws {
    let outcome = try read(#"[{"b":2,"a":"x"},{"a":null,"c":[1,{"d":2}],"b":true},{}]"#, ["a", "b", "c"])
    #expect(outcome == Outcome(rows: ["x|2|~", #"~|true|[1,{"d":2}]"#, "~|~|~"]))
  }

  @Test func nestedJSONMembersHaveDottedNames() throws {
    let text = #"{"p":{"q":{"r":1},"s":"t"},"r":5}{"p":7}{"p.s":8}"#
    let outcome = try read(text, ["p.q.r", "p.s", "p", "r"])
    #expect(outcome.rows == [#"1|t|{"q":{"r":1},"s":"t"}|5"#, "~|~|7|~", "~|8|~|~"])
  }

  @Test func mongoDBExtendedJSONIsUnwrapped() throws {
    let text = #"""
      {"_id":{"$oid":"65f4"},"n":{"$numberLong":"12"},"d":{"$date":{"$numberLong":"34"}}}
      {"n":{"$numberLong":"1","more":2},"d":{"other":3}}
      """#
    let outcome = try read(text, ["_id", "n", "d"])
    #expect(outcome.rows == ["65f4|12|34", #"~|{"$numberLong":"1","more":2}|{"other":3}"#])
  }

  @Test func escapesInJSONStringsAreResolved() throws {
    let text = #"{"a":"q\"\\\/\n\t\u00e9\uD83D\ude00\ud800x","b":"plain"}"#
    #expect(try read(text, ["a", "b"]).rows == ["q\"\\/\n\té😀\u{FFFD}x|plain"])
  }

  @Test func aJSONStringMayEndInAnEscapedBackslashAtAnyPosition() throws {
    for length in 0..<20 {
      let filler = String(repeating: "f", count: length)
      let text = #"{"a":"\#(filler)\\","b":"\#(filler)\"","c":1}"#
      #expect(try read(text, ["a", "b", "c"]).rows == ["\(filler)\\|\(filler)\"|1"])
    }
  }

  @Test func theLastOfRepeatedJSONKeysIsRead() throws {
    let outcome = try read(#"{"a":"\u0041","a":"\u0042","a":"\u0043"}{"a":"\u0041","a":2}"#, ["a"])
    #expect(outcome.rows == ["C", "2"])
  }

  @Test(arguments: [
    #"{"status":200,"result":[{"a":1},{"a":2}],"more":{"a":3}}"#, #"{"data":{"entries":[{"a":1},{"a":2}]}}"#,
    #"[{"a":1}][{"a":2}]"#, "{\"a\":1}\n\n{\"a\":2}\n", "\u{FEFF}[{\"a\":1}]\u{FEFF}[{\"a\":2}]\u{1A}",
    #"{"entries":[{"a":1}],"treatments":[{"a":2}]}"#, "\r\n [ {\"a\" : 1 } ,\r\n {\"a\"\t:2}\r\n]\r\n",
  ])
  func jsonRowsAreFoundInEveryEnvelope(_ text: String) throws {
    #expect(try read(text, ["a"]) == Outcome(rows: ["1", "2"]))
  }

  @Test func aJSONRowMayHaveAMemberNamedLikeAWrapper() throws {
    let text = #"[{"a":1,"data":[{"a":2}]}]"#
    #expect(try read(text, ["a"]).rows == ["1"])
  }

  @Test func rejectionsInJSONStateTheirLineNumbers() throws {
    let outcome = try read("[\n{\"a\":1},\n\n{\"a\" 2},\n{\"a\":3}]", ["a"])
    #expect(outcome.rows == ["1", "3"])
    #expect(outcome.rejections == ["4: a ':' is missing after a key"])
  }

  @Test(arguments: [
    #"{"a":}"#, #"{"a":1 "b":2}"#, #"{a:1}"#, #"{"a":1,}"#, #"{"a":'1'}"#, #"{"a":1,{"b":2}"#, #"{"a":[1}"#,
    "<html>",
  ])
  func aMalformedJSONObjectIsRejectedAndTheRestIsRead(_ bad: String) throws {
    for separator in [",", ",\n", "\n"] {
      let text = ["{\"a\":1}", bad, "{\"a\":2}", "{\"a\":3}"].joined(separator: separator)
      let outcome = try read("[" + text + "]", ["a"])
      #expect(outcome.rows.first == "1" && outcome.rows.last == "3", "\(text)")
      #expect(outcome.rows.count + outcome.rejections.count >= 3)
    }
  }

  @Test func jsonRowsThatAreNotObjectsAreRejected() throws {
    let outcome = try read(#"[1,"text",{"a":1},null]"#, ["a"])
    #expect(outcome.rows == ["1"])
    #expect(outcome.rejections.count == 3)
  }

  @Test func garbageAfterTheEndOfJSONIsRejectedOnce() throws {
    let outcome = try read("[{\"a\":1}]\n<html><body>Page 1 of 3</body></html>\n", ["a"])
    #expect(outcome.rows == ["1"])
    #expect(outcome.rejections == ["2: a value is expected"])
    #expect(outcome.cut == nil)
  }

  @Test func aTruncatedJSONObjectIsReportedAndNotRead() throws {
    let whole = "[{\"a\":12},\n{\"a\":34}]\n"
    for length in 1..<whole.utf8.count {
      let outcome = try read(String(whole.prefix(length)), ["a"])
      #expect(outcome.rows == Array(["12", "34"].prefix(outcome.rows.count)))
      #expect((outcome.cut == nil) == (length >= whole.utf8.count - 1), "\(length)")
      #expect(outcome.rejections.isEmpty)
    }
  }

  @Test func jsonReadInPiecesOfAnySizeHasTheSameRows() throws {
    let text =
      "[{\"a\":\"x\\u00e9\",\"b\":{\"c\":[1,2]}},\r\n{\"a\" 1},"
      + "{\"b\":{\"$date\":\"d\"},\"a\":null}]\n{\"a\":tru"
    let whole = try read(text, ["a", "b", "b.c"])
    #expect(whole.rows.count == 2)
    #expect(whole.cut != nil)
    for size in [1, 2, 3, 7, 16] { #expect(try read(text, ["a", "b", "b.c"], pieces: size) == whole) }
  }

  @Test func jsonValuesNestedTooDeeplyAreRejected() throws {
    func nested(_ depth: Int, _ open: String, _ close: String) -> String {
      String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
    }
    let deep = nested(200_000, "[", "]")
    let outcome = try read("{\"a\":\(nested(60, "[", "]"))}\n{\"a\":\(deep)}\n{\"a\":2}\n", ["a"])
    #expect(outcome.rows.count == 2)
    #expect(outcome.rows.last == "2")
    #expect(outcome.rejections.first == "2: values are nested deeper than 64")
    let objects = nested(5000, "{\"a\":", "}")
    #expect(try read("{\"b\":1}\n\(objects)\n{\"b\":2}\n", ["a.a.a", "b"]).rows.last == "~|2")
    #expect(
      try read("{\"b\":1}\n{\"a\":\(nested(5000, "{\"$x\":", "}"))}\n{\"b\":2}\n", ["a", "b"]).rows.last
        == "~|2")
  }

  @Test func aJSONObjectOf9MiBIsRejectedAndTheNextIsRead() throws {
    let filler = String(repeating: "0123456789abcdef", count: 9 << 16)
    let outcome = try read("[{\"a\":1},\n{\"a\":\"\(filler)\"},\n{\"a\":2}]", ["a"])
    #expect(outcome.rows == ["1", "2"])
    #expect(outcome.rejections == ["2: the object is longer than 8 MiB"])
  }

  @Test func jsonMemberNamesAreCollectedUpToALimit() throws {
    let members = (0..<1000).map { "\"k\($0)\":{\"n\":\($0)}" }.joined(separator: ",")
    let text = TextBuffer(PieceSource("{\(members)}{\"k0\":1,\"new\":2}", size: 4096), name: "test")
    let reader = JSONReader(text, columns: nil)
    guard case .row(let row) = try reader.next() else { throw Stop() }
    #expect(row.count == 256)
    #expect(Array(reader.columns.prefix(4)) == ["k0", "k0.n", "k1", "k1.n"])
    #expect(row[1].text == "0" && row[3].text == "1")
    guard case .row(let second) = try reader.next() else { throw Stop() }
    #expect(second[0].text == "1" && second[1].shape == .absent)
  }

  private struct Stop: Error {}
}
