// SPDX-License-Identifier: Apache-2.0

public import Logbook
public import LogbookStore

/// Where the bytes of a meter's memory come from.
public struct MeterSource: Sendable {
  /// `meter`, or the path of a transcript.
  public let name: String
  /// SHA-256 of a transcript; nil for a meter that is plugged in.
  public let digest: String?

  /// A source with its name.
  public init(name: String, digest: String? = nil) {
    self.name = name
    self.digest = digest
  }

  /// The meter that is plugged in.
  public static let meter = MeterSource(name: "meter")
}

/// Carries all that one meter holds into a store: everything or, when the talk breaks off, nothing.
public struct MeterSession {
  private let driver: any MeterDriver
  private let source: MeterSource
  private let zone: LogbookZone
  private let zoneBasis: Decision.Basis
  private let policy: ImportPolicy
  private let clock: () -> Int64
  private let trustedNow: Int64?

  /// - Parameters:
  ///   - zone: places the shown times; its local time is what the meter's clock is held against.
  ///   - zoneGround: whether it is the logbook's or was given.
  ///   - clock: gives the host's time in UTC seconds.
  ///   - trustedNow: that time, where it may judge others.
  public init(
    _ driver: any MeterDriver, source: MeterSource, zone: LogbookZone,
    zoneBasis: Decision.Basis = .logbook, policy: ImportPolicy = ImportPolicy(),
    clock: @escaping () -> Int64, trustedNow: Int64?
  ) {
    self.driver = driver
    self.source = source
    self.zone = zone
    self.zoneBasis = zoneBasis
    self.policy = policy
    self.clock = clock
    self.trustedNow = trustedNow
  }

  /// Reads the meter, and stores what it holds in one transaction.
  ///
  /// - Parameter store: asked for only when everything is read, so that a talk that fails creates none, and so that no
  ///   transaction waits for a meter.
  /// - Throws: `RejectedInput` where the policy takes no more rejections, else `Failure`; nothing is stored then.
  public func run(_ meter: MeterConnection, into store: () throws -> Store) throws -> ImportReport {
    let startedAt = clock()
    let contents = try read(meter)
    let readAt = meter.now()
    try judge(contents.rejections)
    let batch = MeterBatch(contents, zone: zone, now: trustedNow).batch
    let judgement = contents.identity.clock.map { ClockJudgement($0, in: zone) }
    var counts = IngestCounts()
    var rejections = contents.rejections
    var duplicates: [LikelyDuplicate] = []
    let ingest = IngestSource(
      name: source.name, format: type(of: driver).id, startedAt: startedAt, modifiedAt: nil,
      decisions: decisions)
    try store().ingest(ingest, isAtomic: true) { writer in
      rejections += try writer.write(batch)
      try judge(rejections)
      try writer.note(
        contents.identity.device, firmware: contents.identity.firmware,
        clock: judgement.map { ($0.comparison, $0.difference) })
      duplicates = try writer.likelyDuplicates()
      try writer.finish(
        end: .whole, digest: source.digest, generatedAt: readAt, finishedAt: clock(), decisions: decisions)
      counts = writer.counts
    }
    return ImportReport(
      source: source.name, format: type(of: driver).id, decisions: decisions,
      warnings: contents.warnings + warnings(judgement), counts: counts, end: .whole,
      rejections: Array(rejections.prefix(ImportSession.maxReported)), likelyDuplicates: duplicates,
      meter: contents.identity, clock: judgement)
  }

  /// Whatever goes wrong in a talk that is only read is wrong in the file.
  private func read(_ meter: MeterConnection) throws -> MeterContents {
    do {
      return try driver.read(meter)
    } catch let failure as Failure where source.digest != nil {
      throw Failure(.badInput, "\(source.name): \(failure.message); nothing was stored")
    }
  }

  private var decisions: [Decision] {
    [
      Decision("format", type(of: driver).id, .read), Decision("unit", "as the meter sends it", .fixed),
      Decision("zone", zone.name, zoneBasis),
    ]
  }

  /// A host clock that is not to be trusted says nothing of a meter's, nor does that of a transcript from the future.
  private func warnings(_ judgement: ClockJudgement?) -> [String] {
    guard let judgement, trustedNow != nil, judgement.comparison.host <= clock() + 60 else { return [] }
    return judgement.warning.map { [$0] } ?? []
  }

  private func judge(_ rejections: [Rejection]) throws {
    guard policy.refuses(rejections.count) else { return }
    throw policy.failure(of: source.name, rejections, count: rejections.count, storesNothing: true)
  }
}
