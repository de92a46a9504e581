// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Ingest
import Logbook
import LogbookStore
import Remotes
import TemporaryFiles
import USBTransport

/// One request to a source of any type. It changes nothing at the source.
struct SourceRequest {
  /// The successful end of a request.
  struct SourceResult {
    /// The new answer; nil if the source has not changed since its last answer.
    var body: SourceBody?
    /// The state after the request. It has what the next request needs, such as an entity tag or a position.
    /// For a command, it also has the exit status.
    var state: SourceState
    /// Whether the source has items that this run did not read.
    var hasMore = false
  }

  /// The failed end of a request, with the state after it.
  struct Failed: Error {
    let error: SourceFailure
    let state: SourceState
    /// Whether the request was sent before the failure.
    let wasAsked: Bool
  }

  let setting: SourceSetting
  /// When the run must end; nil if only the source's own limit holds.
  var end: ContinuousClock.Instant?
  let traffic = Traffic()

  private var access: SourceAccess { setting.access }

  /// Sends the request, and waits for the answer.
  ///
  /// - Parameter state: the state before the request. By its entity tag and date, the source can answer that
  ///   nothing has changed.
  /// - Throws: `Failed` if the request fails, other errors if this computer fails.
  func send(_ state: SourceState) async throws -> SourceResult {
    let body = SourceBody(file: try UnlinkedFile(), name: IngestSource.fetched + setting.name)
    switch setting.type {
    case .http: return try await untilSignal { try await askByHTTP(state, body) }
    case .command: return try await runCommand(state, body)
    case .nightscout: return try await untilSignal { try await askSite(state, body) }
    case nil:
      throw Failed(
        error: SourceFailure(
          Failure(.configuration, "a source of the type '\(access.type)' needs another version of glucoport")),
        state: state, wasAsked: false)
    }
  }

  /// Runs a request to a server, and ends it soon after a signal, even while the server sends nothing.
  private func untilSignal(_ ask: @escaping @Sendable () async throws -> SourceResult) async throws
    -> SourceResult
  {
    try await withThrowingTaskGroup(of: SourceResult?.self) { group in
      group.addTask { try await ask() }
      group.addTask {
        while !SignalFlag.isRaised { try await Task.sleep(for: .milliseconds(100)) }
        return nil
      }
      // The other task is cancelled. Leaving the group waits for it, and ignores its result.
      defer { group.cancelAll() }
      guard let result = try await group.next() ?? nil else {
        throw Failure(.temporary, "\(setting.name): interrupted")
      }
      return result
    }
  }

  /// When the request must end: the source's own limit or that of the run, whichever is earlier.
  private var limit: ContinuousClock.Instant {
    let own =
      ContinuousClock.now + .seconds(access.maxSeconds ?? setting.type?.maxSeconds ?? 60)
    return end.map { min($0, own) } ?? own
  }

  // MARK: - HTTP

  private func askByHTTP(_ state: SourceState, _ body: SourceBody) async throws -> SourceResult {
    let login: SourceLogin
    do {
      login = try await httpLogin()
    } catch let failure as Failure {
      throw Failed(error: addingSourceName(to: SourceFailure(failure)), state: state, wasAsked: false)
    }
    do {
      let answer = try await SourceExchange.fetch(
        login, known: (state.entityTag, state.lastModified), refusal: statedFailure(in:)
      ) { try append($0, to: body) }
      var state = state
      (state.entityTag, state.lastModified) = (answer.entityTag, answer.lastModified)
      var body = body
      body.isKnownWhole = answer.statesEnd
      return SourceResult(body: answer.isUnchanged ? nil : body, state: state)
    } catch let error as SourceFailure {
      throw Failed(error: addingSourceName(to: error), state: state, wasAsked: true)
    }
  }

  /// Adds the name of the source to a failure. With several sources, the message then shows which one failed.
  private func addingSourceName(to error: SourceFailure) -> SourceFailure {
    SourceFailure(
      Failure(error.failure.category, "\(setting.name): \(error.failure.message)"),
      retryAfterSeconds: error.retryAfterSeconds)
  }

  private func httpLogin() async throws -> SourceLogin {
    let address = try SourceAddress(access.url ?? "", allowsPlainHTTP: access.allowsPlainHTTP)
    let proxy = try RemoteProxy(for: address.server, environment: Host.environment)
    if let certificate = access.certificate { try CertificateFiles.check(certificate, at: Host.now()) }
    let end = limit
    let token = try await access.token?.token(until: end)
    let credential: SourceLogin.Credential =
      switch (token, access.user, access.header) {
      case (nil, _, _): .none
      case (let token?, let user?, _): .password(user: user, token)
      case (let token?, nil, let header?): .header(name: header, token)
      case (let token?, nil, nil): .bearer(token)
      }
    var login = SourceLogin(
      address, credential, agent: "glucoport/\(Release.version)", authorities: access.authorities)
    login.server.clientCertificate = access.certificate
    login.server.proxy = proxy
    login.server.end = end
    return login
  }

  /// Appends a piece of the answer to its file. Throws if a signal has asked the program to end.
  private func append(_ bytes: UnsafeRawBufferPointer, to body: SourceBody) throws {
    if SignalFlag.isRaised { throw Failure(.temporary, "interrupted") }
    try body.file.append(bytes)
  }

  /// The failure that an answer states, in a message without the source's name; nil if the answer states
  /// none.
  private func statedFailure(in body: [UInt8]) -> SourceFailure? {
    ServiceProblem.of(body, isPersonKnown: access.patient != nil).map { trouble in
      SourceFailure(
        Failure(trouble.category, trouble.reason), retryAfterSeconds: trouble.retryAfterSeconds)
    }
  }

  // MARK: - Commands

  private func runCommand(_ state: SourceState, _ body: SourceBody) async throws -> SourceResult {
    var state = state
    (state.exitStatus, state.lastLine) = (nil, nil)
    let ending: SourceProgram.Ending
    do {
      ending = try await SourceProgram.run(
        access.command, within: limit - ContinuousClock.now, maxBytes: SourceExchange.maxBytes,
        isInterrupted: { SignalFlag.isRaised }
      ) { [file = body.file] in try file.append($0) }
    } catch let failure as Failure {
      let wasAsked = failure.category != .missingInput && failure.category != .permission
      throw Failed(
        error: addingSourceName(to: SourceFailure(failure)), state: state, wasAsked: wasAsked)
    }
    state.exitStatus = ending.failure ?? "status 0"
    state.lastLine = ending.lastLine.isEmpty ? nil : ending.lastLine
    guard let reason = ending.failure else { return SourceResult(body: body, state: state) }
    // A command may fail and still print the answer of a service, which explains more than an exit status.
    let (head, isWhole) = try body.head()
    if isWhole, let found = statedFailure(in: head) {
      throw Failed(error: addingSourceName(to: found), state: state, wasAsked: true)
    }
    let words = state.lastLine.map { ": \($0)" } ?? ""
    let category = Self.category(ofStatus: ending.exitStatus)
    let isBlocking = category == .permission || category == .configuration
    let advice = isBlocking ? "; correct that, and then run 'glucoport fetch --now'" : ""
    throw Failed(
      error: SourceFailure(
        Failure(category, "\(setting.name): the command ended with \(reason)\(words)\(advice)")),
      state: state, wasAsked: true)
  }

  /// The failure category that a command's exit status has in glucoport. For any other status, it is
  /// temporary.
  private static func category(ofStatus status: Int32?) -> FailureCategory {
    switch status {
    case ExitStatus.protocolViolation.rawValue: .protocolViolation
    case ExitStatus.permission.rawValue: .permission
    case ExitStatus.configuration.rawValue: .configuration
    default: .temporary
    }
  }

  // MARK: - Nightscout

  private func askSite(_ state: SourceState, _ body: SourceBody) async throws -> SourceResult {
    let end = limit
    let login: RemoteLogin
    do {
      let address = try RemoteAddress(access.url ?? "", allowsPlainHTTP: access.allowsPlainHTTP)
      guard let source = access.token else {
        throw Failure(.configuration, "a Nightscout site needs an access token")
      }
      if let certificate = access.certificate { try CertificateFiles.check(certificate, at: Host.now()) }
      var made = RemoteLogin(
        address: address, token: try await source.token(until: end), agent: "glucoport/\(Release.version)",
        authorities: access.authorities, traffic: traffic)
      made.clientCertificate = access.certificate
      made.proxy = try RemoteProxy(for: address, environment: Host.environment)
      made.end = end
      login = made
    } catch let failure as Failure {
      throw Failed(error: addingSourceName(to: SourceFailure(failure)), state: state, wasAsked: false)
    }
    do {
      let walk = try await SourceSite.fetch(login, after: state.cursor) { try append($0, to: body) }
      var state = state
      state.cursor = walk.cursor
      var body = body
      body.isKnownWhole = true
      return SourceResult(body: body, state: state, hasMore: walk.hasMore)
    } catch let error as SourceFailure {
      throw Failed(error: addingSourceName(to: error), state: state, wasAsked: true)
    }
  }
}

extension SourceRequest {
  /// The options with which the answer of the source is read.
  ///
  /// - Parameter store: the store whose zone applies to times without an offset; nil if it does not exist
  ///   yet.
  func options(for store: Store?, of body: SourceBody) throws -> ExportOptions {
    let zone = try access.timezone.map { try LogbookZone(name: $0) } ?? store?.timezone() ?? NewLogbook().zone
    let now = Host.now()
    let isClockRight = now >= max(Release.date, try store?.lastSuccess() ?? Release.date)
    var options = ExportOptions(zone: zone, now: isClockRight ? now : nil)
    options.zoneIsGiven = access.timezone != nil
    options.format = access.format ?? (setting.type == .nightscout ? "nightscout" : nil)
    options.unit = access.unit.flatMap { GlucoseUnit(name: $0) }
    options.dateOrder = access.dateOrder
    options.device = access.device
    options.patient = access.patient
    options.isFetched = true
    // A pipeline of commands may succeed although one of them failed, so success does not show that the
    // answer is complete.
    options.lastLineIsComplete = body.isKnownWhole
    options.isInterrupted = { SignalFlag.isRaised }
    return options
  }

  /// Refuses an answer that is empty or states an error, although the request succeeded.
  ///
  /// - Throws: `SourceFailure` with the reason.
  func check(_ body: SourceBody) throws {
    let (head, isWhole) = try body.head()
    if isWhole || head.first == UInt8(ascii: "<"), let found = statedFailure(in: head) {
      throw addingSourceName(to: found)
    }
    guard head.contains(where: { $0 > 0x20 }) else {
      throw SourceFailure(
        Failure(
          .protocolViolation,
          "\(setting.name): the answer is empty; a source without readings must say so, such as []"))
    }
  }
}
