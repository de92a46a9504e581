// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Readings of sources that first occur after the surveyed rows of a long table: a person may have bought a
/// meter later. The readings are held back until their times show what measured them.
struct GenericLateSources {
  private struct LateSource {
    var readings: [Reading] = []
    var rejections: [Rejection] = []
    var cadence = Cadence()
  }

  /// The minimum number of values that show whether a source is a sensor or a meter.
  private static let minValues = 4
  /// The maximum number of values that are held back for one source. If these do not show its kind, it stays
  /// unknown.
  private static let maxValues = 64
  /// The maximum number of sources; texts with more different values do not name devices.
  private static let maxSources = 64
  /// The reason for which a value is rejected if nothing shows what measured it.
  static let reason =
    "a device or source that only later rows have, and nothing shows whether it is a sensor or a meter; import its rows with "
    + "--where and --kind"

  private var buffered: [SourceKinds.SourceKey: LateSource] = [:]
  private var decided: [SourceKinds.SourceKey: KindWord] = [:]

  /// The kind of a source, if the times of its readings have shown it.
  func word(of key: SourceKinds.SourceKey) -> KindWord? { decided.isEmpty ? nil : decided[key] }

  /// Whether the readings of a source can be held back. They cannot if there are too many sources.
  func canBuffer(_ key: SourceKinds.SourceKey) -> Bool {
    buffered[key] != nil || buffered.count < Self.maxSources
  }

  /// Holds a reading back. Once the times of its source show the kind, adds all readings of this source.
  mutating func buffer(
    _ reading: Reading, _ row: Row, of key: SourceKinds.SourceKey, into out: inout BatchBuilder
  ) {
    var source = buffered[key] ?? LateSource()
    source.readings.append(reading)
    source.rejections.append(row.rejection(Self.reason))
    source.cadence.observe(reading.deviceTime.seconds, series: 0)
    buffered[key] = source
    guard source.readings.count >= Self.minValues else { return }
    if source.cadence.isConclusive, !source.cadence.isSteady {
      decided[key] = KindWord(source.cadence.isSensor ? .cbg : .smbg)
    } else if source.readings.count < Self.maxValues {
      return
    }
    addBuffered(key, into: &out)
  }

  /// Adds or rejects the readings that are still held back at the end of the input. A source with few values
  /// close together is a sensor.
  mutating func finish(into out: inout BatchBuilder) {
    let sources = buffered.sorted {
      ($0.value.readings.first?.line ?? 0) < ($1.value.readings.first?.line ?? 0)
    }
    for (key, source) in sources {
      if source.cadence.isDense { decided[key] = KindWord(.cbg) }
      addBuffered(key, into: &out)
    }
  }

  private mutating func addBuffered(_ key: SourceKinds.SourceKey, into out: inout BatchBuilder) {
    guard let source = buffered.removeValue(forKey: key) else { return }
    guard let word = decided[key] else {
      for rejection in source.rejections { out.reject(rejection) }
      return
    }
    for var reading in source.readings {
      reading.kind = word.kind
      out.add(reading)
    }
  }
}
