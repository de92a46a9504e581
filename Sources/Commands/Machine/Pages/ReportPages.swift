// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import LogbookAPI
import LogbookServer
import LogbookStore
import Report

/// The web pages of `serve --pages`. Each is a report about some days of a logbook, with links to other days.
struct ReportPages: PageSource {
  /// The maximum number of readings on a page. A sensor with a value each minute has 130,000 in 90 days.
  private static let maxReadings = 300_000
  /// The maximum size in bytes of the records for a page, including all records about other items.
  private static let maxRecordBytes = 32 << 20
  private static let day: Int64 = 86400
  /// The numbers of days before today that are searched for the newest reading. They are tried in turn, since
  /// a search reads all readings of its days.
  private static let searches: [Int64] = [14, 100, 400]
  /// The maximum offset of a clock from UTC in seconds. Ranges are extended by it, so that no reading of the
  /// page is missed.
  private static let margin: Int64 = 86400
  /// How many seconds before and after the page's period are read as well. The items there can affect whether
  /// items on the page count.
  private static let context = margin + CountingMargin.seconds + CountingMargin.doubtSeconds
  /// The run stamp of all requests that pages send to the storage. It can be constant, since pages write
  /// nothing.
  private static let run = RunStamp(
    node: Digest.uuid(of: ["pages", "node"]), number: 1, id: Digest.uuid(of: ["pages", "run"]),
    mayRepair: false)

  func page(_ request: PageRequest, of logbook: any LogbookService) async throws -> PageAnswer {
    guard let query = PageQuery(request.parameters) else {
      return .invalid(
        "This page does not exist: last is a date, days a number up to \(ReportContents.maxDays).")
    }
    guard let parts = logbook.parts else { return .invalid("This storage shows no pages.") }
    let latest = request.now + Self.margin
    let last = try await lastDay(query, parts, request.now)
    guard last <= latest else { return .invalid("This page does not exist: its days are in the future.") }
    let range = query.range(last: last)
    // The statistics of 90 days would occupy a thread of the server for long, so a separate thread computes
    // them.
    let thread = BackgroundWorker(try PageStore(), name: "glucoport.page")
    do {
      try await addRecords(of: range, parts, to: thread)
      try await addReadings(of: range, parts, to: thread, request.now)
    } catch is PageIsTooLarge {
      return .tooLarge
    }
    try Task.checkCancellation()
    return try await thread.run { try Self.answer($0.store, query, range, now: request.now) }
  }
}

extension PageSettings {
  /// Settings for pages with reports. The tokens in their links have 256 random bits.
  static var reports: PageSettings {
    PageSettings(source: ReportPages()) {
      var generator = SystemRandomNumberGenerator()
      return LoginToken(using: &generator)
    }
  }
}

/// Thrown if a page would need too many items.
private struct PageIsTooLarge: Error {}

extension ReportPages {
  /// The start of the page's last day: the requested day, else the day of the newest reading, else today in
  /// UTC.
  private func lastDay(_ query: PageQuery, _ parts: any PartService, _ now: Int64) async throws -> Int64 {
    if let last = query.last { return last }
    var zone: LogbookZone?
    for days in Self.searches {
      var (newest, newestInstant): (Int64?, Int64?)
      let part = ChangePart.readings(from: now - days * Self.day, until: now + Self.margin)
      try await forEachPage(of: part, parts) { page in
        for reading in page.readings.readings {
          let seconds = reading.deviceTime.seconds
          if reading.placement.source == .instant {
            newestInstant = max(newestInstant ?? .min, seconds)
          } else {
            newest = max(newest ?? .min, seconds)
          }
        }
      }
      if let instant = newestInstant {
        let known = if let zone { zone } else { try await self.zone(parts) }
        zone = known
        newest = max(newest ?? .min, instant + Int64(known.offset(atUTC: instant)))
      }
      if let newest { return newest / Self.day * Self.day }
    }
    return now / Self.day * Self.day
  }

  /// The zones of the logbook. They determine the shown times of readings whose source states only the
  /// instant.
  private func zone(_ parts: any PartService) async throws -> LogbookZone {
    var records: [(guid: String, state: RecordState)] = []
    try await forEachPage(of: .records, parts) { page in
      records += page.records.filter { $0.state.kind == .zone }.map { ($0.guid, $0.state) }
    }
    return LogbookZones(records: records).zone()
  }

  /// Adds the records whose shown time is in the range, and all records about other items, such as
  /// withdrawals.
  private func addRecords(
    of range: Range<Int64>, _ parts: any PartService, to thread: BackgroundWorker<PageStore>
  ) async throws {
    var bytes = 0
    let wide = range.lowerBound - Self.context..<range.upperBound + Self.context
    try await forEachPage(of: .records, parts) { page in
      let records = page.records.filter { record in
        record.state.kind.details?.isListed == false || wide.contains(record.state.deviceTime.seconds)
      }
      for record in records { bytes += record.state.fields.json.utf8.count }
      guard bytes <= Self.maxRecordBytes else { throw PageIsTooLarge() }
      try await thread.run { try $0.add(records) }
    }
  }

  private func addReadings(
    of range: Range<Int64>, _ parts: any PartService, to thread: BackgroundWorker<PageStore>, _ now: Int64
  ) async throws {
    var count = 0
    func add(_ range: Range<Int64>) async throws {
      let part = ChangePart.readings(from: range.lowerBound, until: range.upperBound)
      try await forEachPage(of: part, parts) { page in
        count += page.readings.readings.count
        guard count <= Self.maxReadings else { throw PageIsTooLarge() }
        try await thread.run { try $0.add(page.readings, at: now) }
      }
    }
    let wide = range.lowerBound - Self.context..<range.upperBound + Self.context
    try await add(wide)
    // A program may have copied sensor values as finger sticks. To find the copies, the readings of one more
    // week before and after are needed. Few logbooks have such finger sticks.
    guard try await thread.run({ try $0.store.mayRelaySensors() }) else { return }
    try await add(wide.lowerBound - SensorCopies.marginSeconds..<wide.lowerBound)
    try await add(wide.upperBound..<wide.upperBound + SensorCopies.marginSeconds)
  }

  private func forEachPage(
    of part: ChangePart, _ parts: any PartService, _ use: (ChangePage) async throws -> Void
  ) async throws {
    var cursor: String?
    while true {
      try Task.checkCancellation()
      let page = try await parts.changes(of: part, after: cursor, limit: .max, Self.run)
      try await use(page)
      guard page.hasMore else { return }
      cursor = page.cursor
    }
  }

  private static func answer(
    _ store: Store, _ query: PageQuery, _ range: Range<Int64>, now: Int64
  ) throws -> PageAnswer {
    var zone = try store.timezone()
    let (start, end) = (
      zone.instant(ofShown: range.lowerBound), zone.instant(ofShown: range.upperBound)
    )
    var statistics = try StatsQuery(store: store, device: nil, zone: zone, now: now)
    statistics.recordKinds = DayTally.recordKinds
    let until = start < now ? try statistics.possibleEnd(end) : end
    (statistics.options.since, statistics.options.until) = (start, until)
    statistics.shown = (range.lowerBound, range.upperBound)
    (statistics.options.grouping, statistics.options.hasProfile) = (.day, true)
    statistics.gatherDays(of: Period(start: start, end: until))
    let dates = (PageQuery.date(range.lowerBound), PageQuery.date(range.upperBound - day))
    var contents = ReportContents(
      try statistics.view(unit: nil), dates: dates, device: nil, isAnonymised: false)
    let today = (now + Int64(zone.offset(atUTC: now))) / day * day
    contents.links = query.links(range, today: today)
    let page = ReportPage(contents, query.texts)
    return query.form == .pdf
      ? .pdf(page.pdf(page.allParts, .a4).bytes) : .html(Array(try page.html(page.allParts).utf8))
  }
}

extension LogbookZone {
  /// The instant at which a clock in the logbook's zone showed a time. Both are in seconds.
  fileprivate mutating func instant(ofShown seconds: Int64) -> Int64 {
    seconds - Int64(placement(of: DeviceTime(seconds: seconds)).utcOffset)
  }
}

/// The parameters in the address of a page, such as `last=2026-03-15&days=14&language=de`.
struct PageQuery: Equatable {
  /// The numbers of days that a page can show.
  static let spans = [1, 7, 14, 30, ReportContents.maxDays]
  private static let usualDays = 14
  private static let day: Int64 = 86400

  /// The first second of the last day, as shown time; nil for the newest day with readings.
  var last: Int64?
  var days = Self.usualDays
  var texts = PageTexts.english
  var form = ReportForm.html

  static func == (left: Self, right: Self) -> Bool {
    left.last == right.last && left.days == right.days && left.texts.code == right.texts.code
      && left.form == right.form
  }

  init() {}

  /// Reads the parameters; nil if one is invalid.
  init?(_ parameters: [String: String]) {
    for (name, value) in parameters {
      switch name {
      case "last":
        // The value must be only a date, but `DeviceTime` would also accept a time of day.
        guard value.utf8.count == 10, let date = DeviceTime(text: value + "T00:00:00"), date.seconds >= 0
        else {
          return nil
        }
        last = date.seconds
      case "days":
        guard let days = Int(value), (1...ReportContents.maxDays).contains(days) else { return nil }
        self.days = days
      case "language":
        guard let texts = PageTexts.all.first(where: { $0.code == value }) else { return nil }
        self.texts = texts
      case "format":
        guard let form = ReportForm(rawValue: value) else { return nil }
        self.form = form
      default: return nil
      }
    }
  }

  /// The range of shown times of a page with this last day.
  func range(last: Int64) -> Range<Int64> { last - Int64(days - 1) * Self.day..<last + Self.day }

  /// The links from the page with these shown times to other pages.
  ///
  /// - Parameter today: the first second of the present day. No link leads to a later day.
  func links(_ range: Range<Int64>, today: Int64) -> [ReportLink] {
    let last = range.upperBound - Self.day
    let length = Int64(days) * Self.day
    var links: [ReportLink] = []
    if range.lowerBound > 0 { links.append(ReportLink(.earlier, target: target(last: last - length, days))) }
    if last < today {
      links.append(ReportLink(.later, target: target(last: min(last + length, today), days)))
    }
    links += Self.spans.map { span in
      ReportLink(.days(span), target: target(last: last, span), isCurrent: span == days)
    }
    links.append(ReportLink(.pdf, target: target(last: last, days) + "&format=pdf"))
    // A page with more days gets no link for each day, since the links would fill it.
    guard days > 1, days <= Self.usualDays else { return links }
    let each = stride(from: range.lowerBound, to: range.upperBound, by: Int64.Stride(Self.day))
    return links + each.map { ReportLink(.day(Self.date($0)), target: target(last: $0, 1)) }
  }

  static func date(_ seconds: Int64) -> String { String(DeviceTime(seconds: seconds).text.prefix(10)) }

  private func target(last: Int64, _ days: Int) -> String {
    "?last=\(Self.date(last))&days=\(days)&language=\(texts.code)"
  }
}

/// The items of a logbook that one page needs, in a temporary store. The store applies the zones and
/// withdrawals of the logbook to the items.
struct PageStore {
  let store: Store
  private var ingest: Int64?

  init() throws {
    store = try Store.scratch(copyOf: nil, zone: try LogbookZone(name: "UTC"), isGiven: false, role: .sync)
  }

  func add(_ records: [RemoteRecord]) throws {
    try store.sync { transaction in
      for record in records { try transaction.adopt(record, over: transaction.record(record.guid)) }
    }
  }

  mutating func add(_ readings: ReadingBatch, at now: Int64) throws {
    if readings.readings.isEmpty { return }
    ingest = try store.sync {
      try $0.storePulled(readings, ingest: ingest, from: "server", at: now).ingest
    }
  }
}
