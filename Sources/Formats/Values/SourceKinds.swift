// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Determines which sources of an input are sensors, from the times of each source's values.
///
/// A source is a device or an app. No list of names is ever complete, but a sensor measures every 1 to 15
/// minutes for hours, and a person never does.
struct SourceKinds {
  /// The kind of device that took the values of a source.
  enum DeviceKind { case sensor, meter, unknown }

  /// A hash of the texts that identify a source.
  struct SourceKey: Hashable {
    private(set) var hash: UInt64 = 14_695_981_039_346_656_037

    mutating func add(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
      // No UTF-8 text holds the byte 0xFF, so it separates the texts. Without it, the texts `ab` and `c`
      // would have the same hash as `a` and `bc`.
      hash = (hash ^ 0xFF) &* 1_099_511_628_211
    }
  }

  /// The texts that name a source. The first one is for messages.
  struct Label: Hashable {
    var texts: [String]
    /// The position of the first text's column among the columns that name sources; -1 if there are none.
    var place = -1

    var name: String { texts.first ?? "" }
  }

  private struct ObservedSource {
    let label: Label
    var cadence = Cadence()
    var deviceKind = DeviceKind.unknown
    /// Whether the recorded values are close together in time.
    var isDense = false
  }

  /// The maximum number of sources whose times are kept. Values of further sources are ignored.
  private static let maxSources = 64

  private var sources: [SourceKey: ObservedSource] = [:]
  /// Whether words of the label decide before the times do, as in a column for the device that measured the
  /// values.
  private let readsWords: Bool

  init(readsWords: Bool = false) { self.readsWords = readsWords }

  /// Whether there are too many sources, so that they cannot be devices.
  var isFull: Bool { sources.count >= Self.maxSources }

  /// Whether `observe` needs no label for this source, because the source is known, or because there are too
  /// many sources.
  func knows(_ key: SourceKey) -> Bool { isFull || sources[key] != nil }

  /// Records the time of a value.
  mutating func observe(_ seconds: Int64, of key: SourceKey, label: @autoclosure () -> Label) {
    if sources[key] == nil {
      guard !isFull else { return }
      sources[key] = ObservedSource(label: label())
    }
    sources[key]?.cadence.observe(seconds, series: 0)
  }

  /// Determines the kind of device of each source, after all times were recorded.
  mutating func decide() {
    for (key, source) in sources {
      var decided = ObservedSource(label: source.label)
      (decided.deviceKind, decided.isDense) = (deviceKind(source), source.cadence.isDense)
      sources[key] = decided
    }
  }

  private func deviceKind(_ source: ObservedSource) -> DeviceKind {
    if readsWords, let stated = SourceName.deviceKind(of: source.label.texts) { return stated }
    if source.cadence.isSensor { return .sensor }
    if source.cadence.isConclusive, !source.cadence.isSteady { return .meter }
    return source.label.texts.contains(where: SourceName.isMeter) ? .meter : .unknown
  }

  /// The kind of device that measured the values of a source; nil for a source without a recorded time.
  func deviceKind(of key: SourceKey) -> DeviceKind? { sources[key]?.deviceKind }

  /// The kind of device of the sources with this name; nil if they are of different kinds.
  func deviceKind(named name: String) -> DeviceKind? {
    let deviceKinds = Set(sources.values.filter { $0.label.name == name }.map(\.deviceKind))
    return deviceKinds.count == 1 ? deviceKinds.first : nil
  }

  /// The labels of the sources with this kind of device, each once, sorted by name.
  func labels(of deviceKind: DeviceKind) -> [Label] {
    let labels = Set(sources.values.filter { $0.deviceKind == deviceKind }.map(\.label))
    return labels.sorted { ($0.name, $0.place) < ($1.name, $1.place) }
  }

  /// If the input has a sensor, marks further sources as sensors. These are sources of unknown kind whose
  /// values are close together, and those with the name of a sensor in this input.
  mutating func joinSensors() {
    let sensors = Set(labels(of: .sensor).map(\.name))
    guard !sensors.isEmpty else { return }
    for (key, source) in sources where source.deviceKind == .unknown {
      if source.isDense || sensors.contains(source.label.name) { sources[key]?.deviceKind = .sensor }
    }
  }
}

/// Determines the kind of device from the name of a device or app, or from a word for a method of
/// measurement.
enum SourceName {
  /// Parts of the names of apps and devices that use a sensor.
  private static let sensorNames = [
    "dexcom", "stelo", "libre", "lingo", "eversense", "guardian", "medtronic", "minimed", "xdrip", "juggluco",
    "sibionics", "ottai", "sugarmate", "spike", "shuggah", "nightguard", "trio", "iaps", "loop", "fsl",
  ]
  private static let meterNames = [
    "contour", "accuchek", "onetouch", "freestylelite", "freestylefreedom", "freestyleinsulinx",
    "freestyleoptium", "freestyleprecision", "optiumneo", "precisionneo", "precisionxtra", "caresens",
    "glucomen", "glucocard", "glucofix", "truemetrix", "trueresult", "mylifeunio", "mylifepura", "beurergl",
    "wavesense", "relion", "ketomojo", "fingerstick", "fingerprick", "glucometer", "bloodglucosemeter",
  ]
  /// Parts of the names of sensors from makers of meters. A name with one of them is not that of a meter.
  private static let otherNames = ["cgm", "sensor", "smartguide", "caresensair"]
  /// Stems of words for a sensor. Those in `meterStems` are for a measurement in a drop of blood, and those
  /// in `manualStems` for a value that a person typed.
  private static let sensorStems = [
    "sensor", "cgm", "interstit", "intersticial", "continu", "kontinu", "gewebe", "capteur", "czujnik",
    "scan", "escan", "gescan", "skann",
  ]
  private static let meterStems = [
    "finger", "capil", "kapil", "glucomet", "glucómet", "glucomèt", "glukomet", "messgerät", "teststreifen",
    "blutig", "smbg", "meter", "doigt", "dedo", "palec", "prick", "vinger",
  ]
  private static let manualStems = ["manu", "typed", "keyed", "händisch"]
  /// The maximum number of words in a text that can state the device or the method; a longer text is a
  /// remark.
  private static let maxWords = 3

  /// Whether the text is the name of a well-known sensor or its app.
  static func isSensor(_ name: String) -> Bool {
    let folded = name.lowercased()
    return sensorNames.contains { folded.contains($0) }
  }

  /// Whether the text is the name of a blood glucose meter.
  static func isMeter(_ name: String) -> Bool {
    let folded = String(name.lowercased().filter { $0.isLetter || $0.isNumber })
    return meterNames.contains { folded.contains($0) } && !otherNames.contains { folded.contains($0) }
  }

  /// The kind of device that the texts of a source state by a word for the method, or by the name of a
  /// sensor. Nil if they do not state it.
  static func deviceKind(of texts: [String]) -> SourceKinds.DeviceKind? {
    if let stated = texts.lazy.compactMap({ word($0) }).first { return stated }
    return texts.contains(where: isSensor) ? .sensor : nil
  }

  /// The kind of device that a text of any column states. It is recognised by a word for a sensor or a drop
  /// of blood, or by the name of a sensor or meter. A word such as `manual` is not read, since it may be the
  /// mode of a pump.
  static func statedDeviceKind(_ text: String) -> SourceKinds.DeviceKind? {
    if isRemark(text) { return nil }
    let (isOfSensor, isOfMeter) = (has(text, sensorStems), has(text, meterStems))
    if isOfSensor != isOfMeter { return isOfSensor ? .sensor : .meter }
    if isMeter(text) { return .meter }
    return isSensor(text) ? .sensor : nil
  }

  private static func word(_ text: String) -> SourceKinds.DeviceKind? {
    if isRemark(text) { return nil }
    let (isOfSensor, isOfMeter) = (has(text, sensorStems), has(text, meterStems + manualStems))
    return isOfSensor == isOfMeter ? nil : isOfSensor ? .sensor : .meter
  }

  private static func isRemark(_ text: String) -> Bool {
    text.split { $0.isWhitespace }.count > maxWords
  }

  private static func has(_ text: String, _ stems: [String]) -> Bool {
    text.lowercased().split { !$0.isLetter }.contains { word in stems.contains { word.hasPrefix($0) } }
  }
}
