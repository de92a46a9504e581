// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Formats

/// Tests the description page that `glucoport formats NAME` prints for each format.
@Suite struct FormatPageTests {
  /// The names of the empty lists of a page, and the invalid texts of the page. A valid text is one trimmed
  /// line of at most 200 characters without a period.
  private static func faults(_ page: FormatPage) -> [String] {
    let lists = [
      ("origin", page.origin), ("variants", page.variants), ("languages", [page.languages]),
      ("reads", page.reads), ("leaves", page.notRead),
    ]
    return lists.flatMap { name, texts -> [String] in
      if texts.isEmpty || texts == [""] { return ["no \(name)"] }
      return texts.compactMap { text in
        let isLine = text.utf8.allSatisfy { $0 >= 0x20 } && !text.contains("  ")
        let isText = text.first?.isWhitespace == false && text.last?.isWhitespace == false
        return isLine && isText && !text.hasSuffix(".") && text.count <= 200 ? nil : "\(name): \(text)"
      }
    }
  }

  @Test(arguments: FormatRegister.formats.map { $0.id }) func everyFormatHasADescriptionPage(_ id: String)
    throws
  {
    let page = try #require(FormatRegister.all.first { $0.id == id }).page
    #expect(Self.faults(page) == [], "\(id)")
  }

  @Test func aFormatWithoutADescriptionPageFailsTheCheck() {
    #expect(Self.faults(.missing).count == 5)
    let page = FormatPage(
      origin: ["a."], variants: ["two\nlines"], languages: " b", reads: ["c"], notRead: [])
    #expect(Self.faults(page).count == 4)
  }

  @Test func noTwoFormatsHaveTheSameDescriptionPage() {
    let reads = FormatRegister.all.map { $0.page.reads + $0.page.notRead + $0.page.origin }
    #expect(Set(reads).count == reads.count)
  }
}
