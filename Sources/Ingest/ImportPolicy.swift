// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// How an import treats its input.
package struct ImportPolicy: Sendable {
  /// Whether nothing is stored if one item is rejected or the input is truncated (`--strict`).
  package var isStrict = false
  /// The maximum number of rejected items before the import ends; nil for no limit.
  package var maxRejections: Int?

  /// Whether the input's readings and records that an undo hid are shown again (`--again`).
  package var restoresWithdrawn = false

  /// Whether an input is accepted that states another person than earlier inputs.
  package var acceptsPerson = false

  /// The numbers of the imports of the same workbook in this run. The input never changes their records,
  /// since another sheet is not a later version of them. Nil if the input is not a sheet.
  package var earlierSheets: [Int64]?

  /// The default policy: it sets no limit on rejections.
  package init() {}

  /// Whether this number of rejections ends an import.
  func refuses(_ count: Int) -> Bool { count > (isStrict ? 0 : maxRejections ?? .max) }

  /// The error of an import with too many rejections.
  ///
  /// - Parameter storesNothing: whether nothing is stored even if the policy is not strict.
  func failure(
    of name: String, _ rejections: [Rejection], count: Int, storesNothing: Bool
  ) -> RejectedInput {
    let limit = isStrict ? "--strict permits none" : "--max-rejects permits \(maxRejections ?? 0)"
    let end = isStrict || storesNothing ? "nothing was stored" : "what was read before is stored"
    let items = counted(count, "item was rejected", "items were rejected")
    return RejectedInput(
      Failure(.badInput, "\(name): \(items) and \(limit); \(end)"), source: name, rejections, count: count)
  }
}

/// The error of an import that its policy ended because of rejected items.
package struct RejectedInput: Error {
  /// The failure, which states what is stored.
  package let failure: Failure
  /// The path of the input, `-` for standard input, or `meter`.
  package let source: String
  /// The first of the rejections.
  package let rejections: [Rejection]
  /// The number of items that were rejected before the import ended.
  package let count: Int

  init(_ failure: Failure, source: String, _ rejections: [Rejection], count: Int) {
    self.failure = failure
    self.source = source
    self.rejections = Array(rejections.prefix(ImportReport.maxRejections))
    self.count = count
  }
}
