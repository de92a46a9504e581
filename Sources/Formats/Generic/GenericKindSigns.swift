// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Counts the readings whose rows name a meter although a person gave the kind of a sensor, or the reverse.
///
/// The kind that the person gave is kept, since a name in a row may be that of a program. A warning is shown,
/// since the person may have meant only the other rows.
struct GenericKindSigns {
  private struct KindSign: Hashable {
    let column: String
    let value: String
    let deviceKind: SourceKinds.DeviceKind
  }

  /// A column, with the kinds of device that its cells state.
  private struct DeviceColumn {
    let name: String
    let areMarks: Bool
    var deviceKinds: [[UInt8]: SourceKinds.DeviceKind] = [:]
  }

  private static let maxValues = 64
  private static let maxSigns = 2

  private let kind: ReadingKind
  private var columns: [DeviceColumn]
  private var counts: [KindSign: Int] = [:]
  private var total = 0

  /// - Parameters:
  ///   - kind: the kind that a person gave.
  ///   - columns: the names of the columns that may state the device, and whether their cells are only yes
  ///     and no.
  init?(_ kind: ReadingKind?, _ columns: [(name: String, areMarks: Bool)]) {
    guard let kind, kind != .ketone, !columns.isEmpty else { return nil }
    self.kind = kind
    self.columns = columns.map { DeviceColumn(name: $0.name, areMarks: $0.areMarks) }
  }

  /// Compares the devices that a row names with the kind of its reading.
  mutating func observe(_ row: Row, _ places: [Int], _ own: ReadingKind) {
    total += 1
    for (index, place) in zip(columns.indices, places) {
      let cell = row[place].trimmed
      guard !cell.isEmpty, own == kind, let deviceKind = deviceKind(of: cell, in: index) else { continue }
      if (deviceKind == .meter) == (kind == .smbg) { continue }
      counts[KindSign(column: columns[index].name, value: cell.text, deviceKind: deviceKind), default: 0] += 1
      return
    }
  }

  private mutating func deviceKind(of cell: Field, in index: Int) -> SourceKinds.DeviceKind? {
    let bytes = Array(cell.bytes)
    if let known = columns[index].deviceKinds[bytes] { return known == .unknown ? nil : known }
    // A column with more different values has remarks, so further values are ignored.
    guard columns[index].deviceKinds.count < Self.maxValues else { return nil }
    let text = cell.text
    let found =
      columns[index].areMarks
      ? GenericDeviceWords.deviceKind(of: text, in: columns[index].name) : SourceName.statedDeviceKind(text)
    columns[index].deviceKinds[bytes] = found ?? .unknown
    return found
  }

  /// The warnings for the person. If all rows name a sensor, there is no warning about finger sticks: readers
  /// of sensors can measure finger sticks, too.
  func warnings(_ hint: ImportHint) -> [String] {
    let signs = counts.filter { $0.value < total || $0.key.deviceKind == .meter }.sorted {
      ($1.value, $0.key.value) < ($0.value, $1.key.value)
    }
    return signs.prefix(Self.maxSigns).map { sign, count in
      let other: ReadingKind = sign.deviceKind == .meter ? .smbg : .cbg
      var options = hint.options
      options.rows.append(RowFilter(column: sign.column, value: sign.value))
      options.kind = other
      let command = sign.value.isPlainInCommands ? ": " + ImportHint(options: options).command : ""
      return
        "\(counted(count, "reading")) with \(shownName(sign.value)) in the column \(shownName(sign.column)) may be of a "
        + "\(sign.deviceKind == .meter ? "meter" : "sensor"), and --kind made them \(kind.name). If so, run 'glucoport undo', and "
        + "import the rows of each value with their kind" + command
    }
  }
}

extension GenericFinding {
  /// Ignores the column of kinds if it has events next to the values of a sensor, such as meals and
  /// calibrations. To be such a column, it must be named for events, and the column of values for the sensor.
  /// Fewer than half of the rows with a value must have a word in it.
  mutating func dropEventsNextToSensor() {
    let (value, kind) = (columns[.value], columns[.kind])
    guard value >= 0, kind >= 0, kindOfColumn(value) == .cbg, header.words[kind].isOfEvents else { return }
    let rows = header.rows.filter { $0.indices.contains(value) && !$0[value].isEmpty }
    let named = rows.count { $0.indices.contains(kind) && !$0[kind].isEmpty }
    guard named * 2 < rows.count else { return }
    columns[.kind] = -1
    (kindMayBeSource, eventsPlace) = (false, kind)
  }

  /// The columns that are named for the device or the method that measured the values. Words of other columns
  /// show nothing: `CGM alarm` is why a person measured, a `Guardian` may be a parent, and `MiniMed` a pump.
  var indexesOfOrigins: [Int] {
    header.names.indices.filter { place in
      let words = header.words[place]
      guard words.isOrigin, !columns.hasRole(place) else { return false }
      let cells = header.cells(place)
      return !cells.isEmpty && cells.allSatisfy { CellContent($0) == .text }
    }
  }

  /// The columns that may state which device measured the value of a row.
  var kindSigns: [(place: Int, name: String, areMarks: Bool)] {
    let sources = columns.origins + [columns[.device]] + (kindMayBeSource ? [columns[.kind]] : [])
    let marks = watches.compactMap { watch in
      switch watch.use {
      case .deviceMark: (place: watch.place, name: watch.name, areMarks: true)
      case .words where !columns.origins.contains(watch.place) && columns[.device] != watch.place:
        (place: watch.place, name: watch.name, areMarks: false)
      default: nil
      }
    }
    return sources.filter { $0 >= 0 }.map { (place: $0, name: header.names[$0], areMarks: false) } + marks
  }
}
