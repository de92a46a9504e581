// SPDX-License-Identifier: Apache-2.0

/// The latest versions of Observations that an input has in several versions, such as exports of a server
/// that were joined. The value of an earlier version was wrong, so only the latest version is imported.
///
/// Source: FHIR R4 `meta.versionId`. Many servers count versions from 1. Other servers use texts as version
/// ids. Texts have no order, so they are ignored.
struct FHIRVersions {
  /// A version of an Observation.
  struct Version {
    fileprivate let key: Key
    fileprivate let number: UInt32

    /// - Parameters:
    ///   - id: the id of the Observation on its server.
    ///   - patient: the reference to the patient. Two servers may use the same id for two patients.
    ///   - versionID: the id of the version. If it is not a number, the result is nil.
    init?(id: String, of patient: String, versionID: String) {
      guard !id.isEmpty, id.utf8.count <= 200, let number = UInt32(versionID) else { return nil }
      (key, self.number) = (Key(id: id, patient: patient), number)
    }
  }

  fileprivate struct Key: Hashable {
    let id: String
    let patient: String
  }

  /// The maximum number of Observations whose versions are compared, so that memory does not grow with the
  /// input. On most servers, few Observations have more than one version.
  private static let maxNoted = 50_000

  /// For each Observation with a version after the first one: the latest version.
  private var latest: [Key: UInt32] = [:]

  /// Notes a version of the input, before Observations are read.
  mutating func observe(_ version: Version?) {
    guard let version, version.number > 1 else { return }
    let known = latest[version.key]
    guard known != nil || latest.count < Self.maxNoted else { return }
    latest[version.key] = max(known ?? 0, version.number)
  }

  /// Whether the input has a later version of the same Observation.
  func replaces(_ version: Version?) -> Bool {
    guard let version, let latest = latest[version.key] else { return false }
    return latest > version.number
  }
}
