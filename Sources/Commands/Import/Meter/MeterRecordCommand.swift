// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import Meters
import USBTransport

/// `glucoport meter record`: reads a meter, and saves every exchange with it in a file.
struct MeterRecordCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "record", "Read a meter and save every exchange as a transcript.",
    """
    Nothing is stored. The transcript of a failed session is kept, because it shows why it \
    failed. A transcript contains the serial number and everything that the meter \
    measured.
    """,
    examples: "glucoport meter record session.transcript",
    "glucoport meter record --anonymise session.transcript")

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
      // A driver lists some models that it cannot read. A person who names the driver may want to try such a
      // model, so these models are included.
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

/// The texts about the progress while a meter is read.
enum MeterProgress {
  static func text(_ name: String, _ done: Int, _ total: Int?) -> String {
    "\(displayed(name)): \(grouped(done))\(total.map { " of \(grouped($0))" } ?? "")"
  }
}

/// Records one session with a meter in a file. Each exchange is written immediately, but an anonymous
/// recording is written only after its end.
final class TranscriptRecording {
  /// The recorded session so far; nil before a meter is opened, and if it was not the requested meter.
  private(set) var transcript: Transcript?

  private let path: String
  private let isAnonymous: Bool
  private var file: TranscriptFile?
  private var driver: (any MeterDriver.Type)?

  init(to path: String, isAnonymous: Bool) {
    self.path = path
    self.isAnonymous = isAnonymous
  }

  /// Starts a recording with the meter that was opened. Returns a transport that records each exchange.
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
        // If the recording was dropped, the exchange that ends the session is not written.
        if !self.isAnonymous, self.file != nil { try file.write(Transcript.line(step)) }
      })
  }

  /// Drops the recording if the meter turns out not to be the requested one.
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

  /// Completes the file after the session.
  ///
  /// - Throws: `Failure` if the file cannot be written, or if the driver cannot make the session anonymous.
  ///   In that case, the file is removed.
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

/// A file with a transcript. It is written line by line during a session, and read as a whole.
final class TranscriptFile {
  /// The maximum size in bytes of a transcript that is read. A meter with 100,000 readings stays below it.
  static let maxBytes = 256 << 20

  private let path: String
  private var descriptor: Int32

  /// Creates a file that only its owner can read. An existing file is not replaced.
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

  func remove() { unlink(PathText.bytes(path)) }

  private func failure() -> Failure {
    Failure(.inputOutput, "\(path): cannot write the transcript: \(String(cString: strerror(errno)))")
  }

  /// Reads all bytes of a transcript.
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

  /// Reads all bytes, but stops soon after the maximum, so that a larger file is recognised.
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
