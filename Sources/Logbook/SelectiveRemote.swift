// SPDX-License-Identifier: Apache-2.0

/// A part of a logbook that can be fetched before, or instead of, everything else that changed.
public enum ChangePart: Hashable, Sendable {
  /// Readings by their shown times in civil seconds: from the first on, up to the second, which itself is left out.
  case readings(from: Int64, until: Int64)
  /// Every record.
  case records
  /// One record by its guid.
  case record(String)
}

/// A remote that gives parts of a logbook.
public protocol SelectiveRemote: Remote {
  /// What others wrote of this part.
  ///
  /// - Parameters:
  ///   - cursor: that of the page before; nil for the first. It belongs to this part alone.
  ///   - limit: the most items on the page.
  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(RemoteError) -> ChangePage
}
