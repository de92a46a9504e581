// SPDX-License-Identifier: Apache-2.0

/// Reads the runs of points in order; see `PointRuns+Bytes.swift`. The bytes may be invalid. The work
/// grows with the number of bytes, not with the number of points: a run of many points is one step.
struct RunReader: IteratorProtocol, Sendable {
  /// The bytes of a run or of a stretch, as `PointRuns+Bytes.swift` defines them. A piece can be moved after
  /// another piece: its first distance is written again, and its other bytes are copied unchanged.
  struct Piece {
    /// The bytes of the piece before its first distance.
    let head: Range<Int>
    /// The bytes of the piece after its first distance.
    let rest: Range<Int>
    /// The position of the first point of the piece.
    let position: Int64
    /// The last position of the previous piece. The first distance of this piece is relative to it.
    let lastPosition: Int64
    let count: Int64
  }

  private let bytes: [UInt8]
  private var index: Int
  /// The last position that was read. The next distance is relative to it.
  private(set) var lastPosition: Int64
  /// Whether the bytes are invalid from the current index on.
  private(set) var isDamaged = false
  private var stretch: OpenStretch?
  /// The indices of the bytes with the first distance of the last `Piece`.
  private var distance = 0..<0

  init(_ bytes: [UInt8]) { (self.bytes, index, lastPosition) = (bytes, 0, 0) }

  init(_ bytes: [UInt8], from mark: PointRuns.Mark) {
    (self.bytes, index, lastPosition) = (bytes, mark.index, mark.lastPosition)
  }

  /// The index of the byte at which the next `Piece` begins; nil while the points of a stretch are being
  /// read.
  var pieceStart: Int? { stretch == nil ? index : nil }

  /// Reads the next run; nil at the end, and at invalid bytes.
  mutating func next() -> PointRuns.Run? {
    guard !isDamaged else { return nil }
    if stretch != nil { return nextOfStretch() }
    guard index < bytes.count else { return nil }
    guard let run = begin() else {
      isDamaged = true
      return nil
    }
    return run
  }

  /// Reads the next whole `Piece`; nil at the end.
  mutating func nextPiece() -> Piece? {
    let (start, lastPosition) = (index, lastPosition)
    guard let first = next() else { return nil }
    var count = first.count
    while stretch != nil, let run = next() { count += run.count }
    return Piece(
      head: start..<distance.lowerBound, rest: distance.upperBound..<index, position: first.first.position,
      lastPosition: lastPosition, count: count)
  }
}

extension RunReader {
  /// The points of a stretch (see `PointRuns+Bytes.swift`) that were not read yet.
  fileprivate struct OpenStretch: Sendable {
    var last: SeriesPoint
    var rest: UInt64
    let minDistance: UInt64
    let flags: PieceFlags
  }

  private mutating func begin() -> PointRuns.Run? {
    guard let header = number() else { return nil }
    let flags = PieceFlags(rawValue: header & 3)
    guard header >> 2 > 0 else { return beginStretch(flags) }
    guard let count = Int64(exactly: header >> 2), count <= PointRuns.maxPoints, let position = position(),
      let step = count > 1 ? number() : 0, let first = point(at: position, flags),
      let run = PointRuns.Run(first, step: step, count: count)
    else { return nil }
    lastPosition = run.lastPosition
    return run
  }

  private mutating func beginStretch(_ flags: PieceFlags) -> PointRuns.Run? {
    guard let count = number(), (2...UInt64(PointRuns.maxStretch)).contains(count), let position = position(),
      let first = point(at: position, flags), let least = number()
    else { return nil }
    stretch = OpenStretch(last: first, rest: count - 1, minDistance: least, flags: flags)
    lastPosition = first.position
    return PointRuns.Run(first: first, step: 0, count: 1)
  }

  private mutating func nextOfStretch() -> PointRuns.Run? {
    guard var open = stretch, let point = point(of: open) else {
      isDamaged = true
      return nil
    }
    lastPosition = point.position
    (open.last, open.rest) = (point, open.rest - 1)
    stretch = open.rest == 0 ? nil : open
    return PointRuns.Run(first: point, step: 0, count: 1)
  }

  private mutating func point(of open: OpenStretch) -> SeriesPoint? {
    guard let further = number() else { return nil }
    let (distance, isTooFar) = open.minDistance.addingReportingOverflow(further)
    // The distance between two positions can be larger than `Int64.max`. The distance is invalid if the
    // wrapped sum is smaller than the last position.
    let position = Int64(bitPattern: UInt64(bitPattern: open.last.position) &+ distance)
    guard !isTooFar, position >= open.last.position,
      let bucket = open.flags.contains(.valueBuckets) ? number() : 0,
      let occurrence = open.flags.contains(.occurrences) ? number() : 0
    else { return nil }
    let point = SeriesPoint(
      position: position, valueBucket: open.last.valueBucket &+ unzigzag(bucket),
      occurrence: open.last.occurrence &+ unzigzag(occurrence))
    return point.occurrence >= 0 ? point : nil
  }

  private mutating func position() -> Int64? {
    let start = index
    guard let distance = number() else { return nil }
    self.distance = start..<index
    return lastPosition &+ unzigzag(distance)
  }

  private mutating func point(at position: Int64, _ flags: PieceFlags) -> SeriesPoint? {
    guard let bucket = flags.contains(.valueBuckets) ? number() : 0,
      let occurrence = flags.contains(.occurrences) ? number() : 0,
      let occurrence = Int64(exactly: occurrence)
    else { return nil }
    return SeriesPoint(position: position, valueBucket: unzigzag(bucket), occurrence: occurrence)
  }

  /// Reads the next number; nil if it is truncated or invalid.
  private mutating func number() -> UInt64? { bytes.number(at: &index) }
}

extension PointRuns.Run {
  /// A run from bytes of another program; nil if its last position is out of range, or if several points have
  /// the same position.
  fileprivate init?(_ first: SeriesPoint, step: UInt64, count: Int64) {
    guard let step = Int64(exactly: step), count == 1 || step > 0 else { return nil }
    let (length, isTooLong) = step.multipliedReportingOverflow(by: count - 1)
    guard !isTooLong, !first.position.addingReportingOverflow(length).overflow else { return nil }
    self.init(first: first, step: step, count: count)
  }
}
