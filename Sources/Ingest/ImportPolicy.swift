// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// How an import treats its input.
package struct ImportPolicy: Sendable {
  /// Everything is stored or, when one item is rejected or the input is truncated, nothing.
  package var isStrict = false
  /// The most rejected items before the import gives up; nil for no limit.
  package var maxRejections: Int?

  /// Whether a withdrawal of the same input ends.
  package var takesBack = false

  /// A policy that accepts what is whole and sets no limit.
  package init() {}

  /// Whether so many rejections end an import.
  func refuses(_ count: Int) -> Bool { count > (isStrict ? 0 : maxRejections ?? .max) }

  /// What ends it.
  ///
  /// - Parameter storesNothing: whether nothing is stored where the policy is not strict, either.
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

/// Rejected items ended an import, as its policy demands.
package struct RejectedInput: Error {
  /// What ended, and what is stored.
  package let failure: Failure
  /// The path, `-`, or `meter`.
  package let source: String
  /// The first of the rejections.
  package let rejections: [Rejection]
  /// How many there were until then.
  package let count: Int

  init(_ failure: Failure, source: String, _ rejections: [Rejection], count: Int) {
    self.failure = failure
    self.source = source
    self.rejections = Array(rejections.prefix(ImportReport.maxRejections))
    self.count = count
  }
}
