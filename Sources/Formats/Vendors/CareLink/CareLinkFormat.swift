// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Medtronic CareLink's CSV in two layouts. In the layout of 2017 and later, sections state their device. In
/// the earlier layout, rows state their kind (`Raw-Type`).
struct CareLinkFormat: ExportFormat {
  static let id = "carelink"
  static let title = "Medtronic CareLink CSV"
  static let summary =
    "sensor and meter readings, calibrations, insulin, basal rates, carbohydrates, event markers"

  /// True: in one real export (danny98m/GluGo2.0), 340 of 1,688 rows repeat another row. A repeated row is
  /// not a second bolus: a pump states seconds, and delivers no two boluses in one second.
  static var repeatsRows: Bool { true }

  private var header: CareLinkHeader
  private var hasHeader = false
  /// Whether the reader is in the lines before the rows. These lines hold a person's name, and are neither
  /// stored nor reported.
  private var isPreamble = true
  private var units: [GlucoseUnit]
  private var glucose: GlucoseReader
  private var mark: DecimalMarkSurvey
  private var dates: DateOrderSurvey
  private var order: DateOrder?
  private var orderBasis = Decision.Basis.given
  private let isYearFirst: Bool
  private var devices = CareLinkDevices()
  private var twins = CareLinkTwins()
  private var calculations = CareLinkCalculations()
  /// Whether the file lists the basal insulin of a closed loop. Then a daily total would count this insulin a
  /// second time.
  private var hasAutomaticBasal = false
  let joinMark: String?
  private var lastDevice: (model: [UInt8], index: DeviceIndex)?

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<CareLinkHeader>>?
  {
    head.firstRow(CareLinkHeader.init)?.recognition
  }

  /// The person in the row below `Last Name,First Name,Patient ID`, before 2017 below `PATIENT INFO`.
  static func statedPersons(in head: InputHead) -> [StatedPerson] {
    let rows = head.rowsAbove { CareLinkHeader($0) != nil }
    for (title, row) in zip(rows, rows.dropFirst()) where isPersonTitle(title) {
      return names(row).map(statedPersons) ?? []
    }
    return []
  }

  /// The person with a name, and an id if the layout has one.
  static func statedPersons(named names: [String]) -> [StatedPerson] {
    let id = names.dropFirst().first.flatMap { StatedPerson(id: $0, of: self.id) }
    return [names.first.flatMap { StatedPerson(name: $0) }, id].compactMap(\.self)
  }

  static func personRow(_ row: Row, below above: PersonRow) -> PersonRow {
    let cells = row.fields.prefix(3).map { $0.trimmed.text }
    if isPersonTitle(cells) { return .start }
    guard case .start = above else { return .other }
    return names(cells).map { .title($0) } ?? .other
  }

  private static func isPersonTitle(_ cells: [String]) -> Bool {
    cells.first == "PATIENT INFO"
      || cells.prefix(3).map(foldedHeader) == ["last name", "first name", "patient id"]
  }

  /// The name and the id in the row below the title of the person. The layout before 2017 has only
  /// `Name,Kim Sample`.
  private static func names(_ cells: [String]) -> [String]? {
    guard cells.count > 1 else { return nil }
    return cells[0] == "Name" || cells.count == 2 ? [cells[1]] : ["\(cells[0]) \(cells[1])", cells[2]]
  }

  init(_ found: Recognition<HeaderRow<CareLinkHeader>>, head: InputHead, options: ExportOptions) throws {
    let row = found.header
    joinMark = head.rowsAbove { CareLinkHeader($0) != nil }.first(where: Self.isPersonTitle)?.first
    header = row.meaning
    units = [header.unit]
    mark = DecimalMarkSurvey(presumed: row.delimiter == UInt8(ascii: ";") ? .comma : .point)
    glucose = GlucoseReader(unit: header.unit, mark: mark.mark)
    dates = try DateOrderSurvey(given: options.dateOrder, now: options.now, isForced: options.force)
    order = options.dateOrder.flatMap(DateOrder.init(rawValue:))
    let dateColumn = header[.date]
    let cells = row.rows.filter { $0.count > dateColumn && $0[0].first?.isNumber == true }.map {
      $0[dateColumn]
    }
    // The layout with sections has dates with the year first in every language.
    isYearFirst =
      cells.isEmpty
      ? !header.hasRawTypes : cells.allSatisfy { $0.prefix(4).allSatisfy(\.isNumber) && $0.count > 7 }
  }

  var needsSurvey: Bool { order == nil && !isYearFirst }
  var benefitsFromSurvey: Bool { dates.isGiven }

  mutating func survey(_ row: Row) {
    if row[0].starts(with: "Report Range") || row[0].starts(with: "Data Range") {
      // The row states the last day of the range, with or without a time of day.
      if let time = ambiguousTime(row[3]) { dates.observeExportTime(time, line: row.line) }
      return
    }
    if let header = CareLinkHeader(row.fields.map(\.text)) {
      self.header = header
    } else if let time = ambiguousTime(row[header[.date]], row[header[.time]]) {
      dates.observe(time, isHistory: !row[header[.sensor]].isEmpty && time.year >= 1990, line: row.line)
    }
  }

  mutating func decide() throws {
    (order, orderBasis) = try dates.decide(halfDayMeansMonthFirst: false, languagePutsDayFirst: false)
  }

  var decisions: [Decision] {
    let carbs =
      header.carbs == .servings ? [Decision("carbohydrates", "exchanges, as servings", .read)] : []
    return [.units(units), .dateOrder(order, orderBasis, isYearFirst: isYearFirst)] + mark.decisions + carbs
  }

  // A line that begins a section has the verdict of a header, but names no columns.
  func maxCells(below header: Row?) -> Int? {
    header.flatMap { CareLinkDevices.isSection($0) ? nil : $0.filledCount }
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard hasHeader, let first = row[0].bytes.first, first &- 0x30 <= 9 else { return readOther(row) }
    guard let time = time(row) else {
      out.reject(
        row,
        "invalid date or time; expected \(order == nil ? "YYYY/MM/DD" : order == .monthFirst ? "MM/DD/YY" : "DD-MM-YY") hh:mm:ss"
      )
      return .data
    }
    if devices.isAggregated {
      readDailyTotal(row, at: time, into: &out)
    } else if header.hasRawTypes {
      readTyped(row, at: time, into: &out)
    } else {
      readPlain(row, at: time, into: &out)
    }
    return .data
  }

  mutating func finish(into out: inout BatchBuilder) {
    let decided = twins.decide()
    for reading in decided.readings { out.add(reading) }
    for _ in 0..<decided.known { out.skip("repeated finger stick") }
    let (meals, corrected) = calculations.decide()
    for meal in meals { out.add(.food, at: meal.time, owner: meal.owner, line: meal.line, meal.fields) }
    for _ in 0..<corrected { out.skip("calculation not delivered") }
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    if let header = CareLinkHeader(row.fields.map(\.text)) {
      self.header = header
      hasHeader = true
      isPreamble = false
      if !units.contains(header.unit) { units.append(header.unit) }
      glucose.unit = header.unit
      return .header
    }
    if devices.readSection(row) {
      lastDevice = nil
      // The line counts as a header, so that rows of words above it are a preamble and are not rejected.
      return .header
    }
    if row[0].equalsFolded("last name") || row[0].starts(with: "Medtronic Diabetes CareLink") {
      isPreamble = true
    }
    guard isPreamble else { return .unknown("not a row of CareLink") }
    devices.readInfo(row)
    return .data
  }
}

// MARK: - Times

extension CareLinkFormat {
  @inline(__always) private func time(_ row: Row) -> ShownTime? {
    let (date, clock) = (row[header[.date]].trimmed, row[header[.time]].trimmed)
    if let order { return ambiguousTime(date, clock)?.time(order).map { ShownTime($0) } }
    guard date.count == 10, let clock = clock.timeOfDay, let year = date.slice(0, 4).integer,
      let month = date.slice(5, 7).integer, let day = date.slice(8, 10).integer, date[4] == date[7]
    else { return nil }
    return DeviceTime(
      year: Int(year), month: Int(month), day: Int(day), hour: clock.hour, minute: clock.minute,
      second: clock.second
    ).map { ShownTime($0) }
  }

  private func ambiguousTime(_ date: Field, _ clock: Field) -> AmbiguousTime? {
    guard let day = date.trimmed.ambiguousDate, let time = clock.trimmed.timeOfDay else { return nil }
    return AmbiguousTime(
      first: day.first, second: day.second, year: day.year, hour: time.hour, minute: time.minute,
      seconds: time.second, hasHalfDay: time.hasHalfDay, separator: day.separator)
  }

  /// The time in a cell of the lines before the rows. Such a cell may state only a day.
  private func ambiguousTime(_ cell: Field) -> AmbiguousTime? {
    if let time = cell.ambiguousTime { return time }
    guard let day = cell.ambiguousDate, day.length == cell.count else { return nil }
    return AmbiguousTime(
      first: day.first, second: day.second, year: day.year, hour: 23, minute: 59, seconds: 59,
      hasHalfDay: false,
      separator: day.separator)
  }
}

// MARK: - Readings

extension CareLinkFormat {
  @inline(__always) private mutating func device(_ row: Row, in out: inout BatchBuilder) -> DeviceIndex {
    let column = header[.device]
    if let lastDevice, column < 0 || row[column].hasSameBytes(as: lastDevice.model) {
      return lastDevice.index
    }
    let index = out.device(devices.device(row, column))
    lastDevice = (column < 0 ? [] : Array(row[column].bytes), index)
    return index
  }

  /// Adds the glucose in a cell. A copy of a finger stick is held until the end of the input, where its
  /// original is known.
  private mutating func add(
    _ kind: ReadingKind, _ column: CareLinkColumn, _ row: Row, at time: ShownTime, marks: ReadingMarks = [],
    copy: CareLinkCopy? = nil, limit: Measurement? = nil, into out: inout BatchBuilder
  ) {
    let cell = row[header[column]].trimmed
    mark.observe(cell.bytes)
    glucose.mark = mark.mark
    switch limit.map(CellValue.measurement) ?? glucose.read(cell) {
    case .empty: return
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement):
      let reading = Reading(
        device: device(row, in: &out), kind: kind, at: time.deviceTime, placement: out.placement(of: time),
        measurement,
        marks: marks, line: row.line)
      if let copy, twins.buffer(reading, copy) { return }
      if kind == .smbg { twins.addOriginal(reading) } else { twins.addSensorHour(at: time.deviceTime) }
      out.add(reading)
    }
  }

  /// Reads a row of the layout of 2017 and later: its non-empty columns determine its kind.
  private mutating func readPlain(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    var hasItem = false
    if !row[header[.sensor]].isEmpty {
      add(.cbg, .sensor, row, at: time, into: &out)
      hasItem = true
    }
    if !row[header[.meter]].isEmpty {
      addFingerStick(row, at: time, into: &out)
      hasItem = true
    }
    if !row[header[.calibration]].isEmpty {
      add(.smbg, .calibration, row, at: time, marks: .calibration, copy: .exact, into: &out)
      hasItem = true
    }
    if addBolus(row, at: time, into: &out) { hasItem = true }
    if addCarbs(row, at: time, into: &out) { hasItem = true }
    if !row[header[.basalRate]].isEmpty {
      addBasal(number(row[header[.basalRate]].trimmed), row, at: time, into: &out)
      hasItem = true
    }
    if !row[header[.marker]].isEmpty {
      addMarker(row, at: time, into: &out)
      hasItem = true
    }
    if !hasItem { out.skip(name(of: row)) }
  }

  /// The words with which pumps state that a finger stick came from a meter, or was typed by a person.
  private static let stickWords: Set<String> = [
    "", "meter", "external_meter", "entered_in_bg_entry", "entered_as_bg_marker", "bg_reading_received",
    "user_accepted_remote_bg", "user_rejected_remote_bg", "user_rejected_sensor_calib",
  ]
  /// The words for a value in the bolus calculator. The person may have accepted the value of the sensor as
  /// this value.
  private static let calculatorWords: Set<String> = [
    "entered_in_bolus_wizrd", "entered_in_bolus_wizard", "entered_in_meal_wizard",
  ]

  /// Adds a finger stick. Pumps such as the 780G state the source of the value (`BG Source`). The source can
  /// be the sensor.
  private mutating func addFingerStick(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let linked: ReadingMarks = row[header[.meterID]].isEmpty ? [] : .linked
    let source = row[header[.meterSource]].trimmed
    if source.isEmpty { return add(.smbg, .meter, row, at: time, marks: linked, into: &out) }
    switch source.text.lowercased() {
    case "sensor": out.skip("filled in from the sensor")
    case let word where Self.stickWords.contains(word):
      add(.smbg, .meter, row, at: time, marks: linked, into: &out)
    case let word where Self.calculatorWords.contains(word):
      add(.smbg, .meter, row, at: time, marks: linked.union(.calculator), into: &out)
    case "entered_in_sensor_calib":
      add(.smbg, .meter, row, at: time, marks: linked.union(.calibration), into: &out)
    case "bg_sent_for_calib":
      add(.smbg, .meter, row, at: time, marks: linked.union(.calibration), copy: .later, into: &out)
    default:
      out.reject(
        row, "BG Source is neither a meter nor the sensor, so the glucose may be no finger stick")
    }
  }

  /// The name under which a row without data for the store is counted.
  private func name(of row: Row) -> String {
    let names: [(CareLinkColumn, String)] = [
      (.newTime, "clock change"), (.alarm, "alarm"), (.suspend, "suspension"), (.rewind, "rewind"),
      (.prime, "priming"), (.tempBasal, "temporary basal rate"), (.exception, "sensor exception"),
      (.estimate, "bolus calculation"), (.bolusType, "bolus not delivered"), (.dailyTotal, "daily total"),
    ]
    return names.first { !row[header[$0.0]].isEmpty }?.1 ?? "row without a value"
  }

  /// Reads a row of the layout before 2017. Such a row states its kind in English in every language.
  private mutating func readTyped(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let type = row[header[.rawType]].trimmed
    if type.equals("GlucoseSensorData") {
      guard !row[header[.sensor]].isEmpty else { return out.skip("sensor reading without a value") }
      add(.cbg, .sensor, row, at: time, into: &out)
    } else if type.equals("GlucoseSensorDataLow") {
      add(.cbg, .sensor, row, at: time, limit: .low(below: 40, .milligramsPerDecilitre), into: &out)
    } else if type.equals("GlucoseSensorDataHigh") {
      add(.cbg, .sensor, row, at: time, limit: .high(above: 400, .milligramsPerDecilitre), into: &out)
    } else if type.equals("BGReceived") {
      let isLinked = !row[header[.meterID]].isEmpty
      add(.smbg, .meter, row, at: time, marks: isLinked ? .linked : [], into: &out)
    } else if type.equals("BGCapturedOnPump") {
      add(.smbg, .meter, row, at: time, copy: .exact, into: &out)
    } else if type.equals("CalBGForPH") {
      add(.smbg, .calibration, row, at: time, marks: .calibration, copy: .exact, into: &out)
    } else if type.equals("SensorCalBG") {
      add(.smbg, .calibration, row, at: time, marks: .calibration, copy: .rounded, into: &out)
    } else if type.equals("BolusNormal") || type.equals("BolusSquare") {
      if !addBolus(row, at: time, into: &out) { out.skip("bolus without insulin") }
    } else if type.equals("BolusWizardBolusEstimate") {
      if !addCarbs(row, at: time, into: &out) { out.skip("bolus calculation") }
    } else if type.equals("BasalProfileStart") {
      addBasal(profileRate(row), row, at: time, into: &out)
    } else {
      out.skip(type.isEmpty ? "row without a kind" : String(type.text.prefix(40)))
    }
  }
}

// MARK: - Insulin, carbohydrates, markers

extension CareLinkFormat {
  private mutating func number(_ cell: Field) -> Double? {
    mark.observe(cell.bytes)
    return cell.number(mark.mark)
  }

  private func owner(_ row: Row) -> String {
    let device = devices.device(row, header[.device])
    return device.serial.isEmpty ? device.model : device.serial
  }

  private func add(
    _ kind: RecordKind, _ fields: [String: FieldValue], _ row: Row, at time: ShownTime,
    into out: inout BatchBuilder
  ) {
    out.add(kind, at: time, owner: owner(row), line: row.line, fields)
  }

  /// Adds a bolus with its delivered amount. Before this row, CareLink writes a row with only the selected
  /// amount; that row adds nothing.
  ///
  /// - Returns: whether the bolus was added, or the row was rejected.
  private mutating func addBolus(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    let cell = row[header[.delivered]].trimmed
    if cell.isEmpty { return false }
    guard let units = number(cell), PlausibleAmounts.units.contains(units) else {
      out.reject(row, "the insulin dose is not a number of units")
      return true
    }
    if units == 0 { return false }
    let type = row[header[.bolusType]]
    var fields = use(of: row)
    if fields["subtype"] == .text("basal") { hasAutomaticBasal = true }
    if type.equals("Square") || type.equals("Dual (square part)") {
      fields["extended"] = .number(units)
      if let time = row[header[.bolusMinutes]].trimmed.timeOfDay {
        fields["minutes"] = .number(Double(time.hour * 60 + time.minute))
      }
    } else {
      fields["units"] = .number(units)
    }
    add(.insulin, fields, row, at: time, into: &out)
    return true
  }

  /// Adds the automatic insulin of a day as basal insulin without an amount, since it is not known whether it
  /// includes corrections. So the total of such a day is unknown. Otherwise the boluses would count as the
  /// total.
  private mutating func readDailyTotal(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    guard !hasAutomaticBasal, row[header[.bolusSource]].trimmed.equals("CLOSED_LOOP_AUTO_INSULIN"),
      let units = number(row[header[.delivered]].trimmed), units > 0
    else { return out.skip("daily total") }
    let fields: [String: FieldValue] = [
      "subtype": .text("basal"), "automatic": .flag(true),
      "text": .text("\(plainNumber(units)) U of automatic insulin in the day"),
    ]
    add(.insulin, fields, row, at: time, into: &out)
  }

  /// The subtype of a delivered amount, and whether the pump delivered it automatically. In closed loop, a
  /// pump delivers basal insulin as a small bolus every five minutes.
  private func use(of row: Row) -> [String: FieldValue] {
    switch row[header[.bolusSource]].trimmed.text {
    case "CLOSED_LOOP_MICRO_BOLUS", "CL_MICRO_BOLUS", "CLOSED_LOOP_AUTO_BASAL":
      ["subtype": .text("basal"), "automatic": .flag(true)]
    case "CLOSED_LOOP_AUTO_BOLUS": ["subtype": .text("rapid"), "automatic": .flag(true)]
    default: ["subtype": .text("rapid")]
    }
  }

  private mutating func addCarbs(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    let cell = row[header[.carbs]].trimmed
    if cell.isEmpty { return false }
    let range = header.carbs == .grams ? PlausibleAmounts.grams : PlausibleAmounts.servings
    guard let amount = number(cell), range.contains(amount) else {
      out.reject(row, "the carbohydrates are not a number from 0 to \(plainNumber(range.upperBound))")
      return true
    }
    if amount == 0 { return false }
    let fields: [String: FieldValue] = [header.carbs.field: .number(amount)]
    let (status, owner) = (row[header[.calculatorStatus]].trimmed, owner(row))
    if status.equalsFolded("delivered") { calculations.addDelivered(at: time, owner: owner) }
    if status.equalsFolded("not delivered"),
      calculations.buffer(.init(time: time, owner: owner, line: row.line, fields: fields))
    {
      return true
    }
    out.add(.food, at: time, owner: owner, line: row.line, fields)
    return true
  }

  /// The rate in `PATTERN_NAME=standard, PROFILE_INDEX=0, RATE=0.75, START_TIME=0`; nil if there is none. The
  /// name of a pattern may also contain `RATE=`, so the last rate counts.
  private func profileRate(_ row: Row) -> Double? {
    let parts = row[header[.rawValues]].text.split(separator: ", ")
    guard let rate = parts.last(where: { $0.hasPrefix("RATE=") })?.dropFirst(5) else { return nil }
    return Double(rate.replacing(",", with: "."))
  }

  private mutating func addBasal(
    _ rate: Double?, _ row: Row, at time: ShownTime, into out: inout BatchBuilder
  ) {
    guard let rate, PlausibleAmounts.unitsPerHour.contains(rate)
    else {
      return out.reject(row, "the basal rate is not a number from 0 to 100")
    }
    add(.insulin, ["subtype": .text("basal"), "rate": .number(rate)], row, at: time, into: &out)
  }

  /// Adds a marker: `Insulin: 8.00`, `Meal: 1.00grams`, `Exercise`, or a person's text.
  private mutating func addMarker(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let cell = row[header[.marker]].trimmed
    if cell.equalsFolded("exercise") { return add(.exercise, [:], row, at: time, into: &out) }
    if cell.starts(with: "Insulin: "), let units = number(cell.slice(9, cell.count)),
      PlausibleAmounts.units.contains(units)
    {
      return add(.insulin, ["units": .number(units)], row, at: time, into: &out)
    }
    if cell.starts(with: "Meal: "), cell.count > 11, cell.slice(cell.count - 5, cell.count).equals("grams"),
      let grams = number(cell.slice(6, cell.count - 5)), PlausibleAmounts.grams.contains(grams)
    {
      return add(.food, ["carbs": .number(grams)], row, at: time, into: &out)
    }
    add(.note, ["text": .text(cell.text)], row, at: time, into: &out)
  }
}

extension CareLinkFormat {
  static let page = FormatPage(
    origin: [
      "sign in to CareLink Personal",
      "Reports > Data Export (CSV), and choose the period",
    ],
    variants: [
      "2017 and later: a section for each pump and sensor, with commas or semicolons",
      "before 2017: Medtronic Diabetes CareLink Personal Data Export File",
      "mg/dL and mmol/L, decimal point and comma",
    ],
    languages: "English, and German before 2017; later files have an English header everywhere",
    reads: [
      "sensor readings, finger sticks, calibrations, each finger stick once",
      "delivered boluses, basal rates, basal insulin of a closed loop, carbohydrates of the bolus calculator, event markers",
    ],
    notRead: [
      "glucose that was typed into the bolus calculator, or whose BG Source is the sensor",
      "daily totals, alarms, suspensions, settings",
    ])
}
