// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import Meters
import USBTransport

/// `glucoport meter record`: saves every exchange of one reading of a meter.
struct MeterRecordCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Read a meter and save every exchange as a transcript.",
    discussion: helpText(
      """
      Nothing is stored. The transcript of a failed session is kept, because it shows why it \
      failed. A transcript contains the serial number and everything that the meter \
      measured.
      """,
      examples: "glucoport meter record session.transcript",
      "glucoport meter record --anonymise session.transcript"))

  @OptionGroup var meterOptions: MeterOptions

  @Argument(help: "The new file to write.")
  var file: PathArgument

  @Flag(help: "Replace serial number and values, if the driver can.")
  var anonymise = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run() throws {
    Host.keepFilesPrivate()
    let output = Output()
    try ProtectedFiles(store: nil).refuse(file.path)
    let recording = TranscriptRecording(to: file.path, isAnonymous: anonymise)
    let progress = ProgressMeter(output, isQuiet: quiet)
    let result = Result {
      // A driver may list a model's ids although it cannot read it. A person who names the driver wants to
      // try.
      try MeterOpener(meterOptions).perform(
        allowsObstacle: meterOptions.driver != nil, wrap: recording.begin
      ) { meter, connection in
        recording.check(connection)
        connection.onProgress = { progress.show(MeterProgress.text(meter.place, $0, $1)) }
        return try meter.driver.init().read(connection)
      }
    }
    progress.clear()
    try recording.finish()
    try show(result, recording.transcript, output)
  }

  private func show(
    _ result: Result<MeterContents, any Error>, _ transcript: Transcript?, _ output: Output
  ) throws {
    let exchanges = counted(transcript?.steps.count ?? 0, "exchange")
    switch result {
    case .success(let contents):
      if !quiet {
        output.line(
          "\(displayed(file.path)): \(exchanges), \(counted(contents.readings.count, "reading"))")
        if !anonymise {
          output.line("  it contains the serial number and all values; share it only with people you trust")
        }
      }
      try output.finish()
    case .failure(let error):
      if transcript != nil {
        output.message(
          "glucoport: \(displayed(file.path)) contains \(exchanges) before the failure")
      }
      throw error
    }
  }
}

/// The progress of reading a meter.
enum MeterProgress {
  static func text(_ name: String, _ done: Int, _ total: Int?) -> String {
    "\(displayed(name)): \(grouped(done))\(total.map { " of \(grouped($0))" } ?? "")"
  }
}

/// The recording of one session in a file. It is written during the session; an anonymous one is written
/// after its end.
final class TranscriptRecording {
  /// The transcript so far; nil before the meter is opened, and after it turned out to be another one.
  private(set) var transcript: Transcript?

  private let path: String
  private let isAnonymous: Bool
  private var file: TranscriptFile?
  private var driver: (any MeterDriver.Type)?

  init(to path: String, isAnonymous: Bool) {
    self.path = path
    self.isAnonymous = isAnonymous
  }

  /// Begins with a meter that was just opened.
  func begin(_ meter: PluggedMeter, _ transport: any Transport) throws -> any Transport {
    let (vendorID, productID) = (meter.device.vendorID, meter.device.productID)
    var empty = Transcript(
      driver: meter.driver.id, vendorID: vendorID, productID: productID, startedAt: Host.now())
    if meter.isUnknown || meter.bluetooth != nil { empty.link = meter.model.link.kind }
    if isAnonymous { _ = try empty.anonymised(by: meter.driver) }
    let file = try TranscriptFile(creating: path)
    (self.file, driver, transcript) = (file, meter.driver, empty)
    if !isAnonymous { try file.write(empty.head) }
    let start = ContinuousClock.now
    return RecordingTransport(
      transport, milliseconds: { Int((ContinuousClock.now - start) / .milliseconds(1)) },
      note: { step in
        self.transcript?.steps.append(step)
        // After a recording was dropped, the end of the session is still sent to the meter.
        if !self.isAnonymous, self.file != nil { try file.write(Transcript.line(step)) }
      })
  }

  /// Ends the recording if the session turns out to be with another meter than the requested one.
  func check(_ connection: MeterConnection) {
    let recognise = connection.onIdentity
    connection.onIdentity = { identity in
      do {
        try recognise(identity)
      } catch {
        self.drop()
        throw error
      }
    }
  }

  /// Completes the file.
  ///
  /// - Throws: `Failure`. A session that its driver cannot make anonymous is not kept.
  func finish() throws {
    guard let file, let driver, let transcript else { return }
    if isAnonymous {
      do {
        try file.write(transcript.anonymised(by: driver).text)
      } catch {
        drop()
        throw error
      }
    }
    try file.close()
  }

  private func drop() {
    file?.remove()
    (file, transcript) = (nil, nil)
  }
}

/// A file with a transcript: written line by line as the session goes on, and read at once.
final class TranscriptFile {
  /// The maximum size of a transcript to read. That of a meter with 100,000 readings is smaller.
  static let maxBytes = 256 << 20

  private let path: String
  private var descriptor: Int32

  /// A new file, accessible only to its owner.
  init(creating path: String) throws(Failure) {
    self.path = path
    descriptor = open(PathText.bytes(path), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason =
        errno == EEXIST ? "File exists; choose another name" : String(cString: strerror(errno))
      throw Failure(.cannotCreate, "\(path): cannot create the transcript: \(reason)")
    }
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  func write(_ text: String) throws(Failure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = uninterrupted { rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } }
      guard count > 0 else { throw failure() }
      rest = rest.dropFirst(count)
    }
  }

  func close() throws(Failure) {
    let code = Glibc.close(descriptor)
    descriptor = -1
    guard code == 0 else { throw failure() }
  }

  /// Removes the file.
  func remove() { unlink(PathText.bytes(path)) }

  private func failure() -> Failure {
    Failure(.inputOutput, "\(path): cannot write the transcript: \(String(cString: strerror(errno)))")
  }

  /// The bytes of a transcript.
  static func read(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let category: FailureCategory =
        errno == ENOENT ? .missingInput : errno == EACCES ? .permission : .inputOutput
      throw unreadable(path, category)
    }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(path, .inputOutput) }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw Failure(.badInput, "\(path): Is a directory; name the transcript in it")
    }
    let bytes = try bytes(of: descriptor, path)
    guard !bytes.isEmpty else { throw Failure(.badInput, "\(path): the file is empty") }
    guard bytes.count <= maxBytes else {
      throw Failure(.badInput, "\(path): the file is too large for a transcript")
    }
    return bytes
  }

  /// All bytes, or a few more than the maximum if there are too many.
  private static func bytes(of descriptor: Int32, _ path: String) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= maxBytes {
      let count = uninterrupted { Glibc.read(descriptor, &piece, piece.count) }
      guard count >= 0 else { throw unreadable(path, .inputOutput) }
      guard count > 0 else { break }
      bytes += piece[..<count]
    }
    return bytes
  }

  private static func unreadable(_ path: String, _ category: FailureCategory) -> Failure {
    Failure(category, "\(path): cannot read the transcript: \(String(cString: strerror(errno)))")
  }
}
