// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import Logbook
import LogbookAPI
import Logging

/// Answers each request: finds the route and the login, runs the call, and logs the result.
struct WireResponder: Sendable {
  private let storage: any ServerStorage
  private let calls: WireCalls
  private let blobs: BlobCalls
  private let pages: PageCalls?
  private let connections: OpenConnections
  private let failedLogins: FailedLogins
  private let failedLoginDelay: Duration
  private let requests: WorkLimits
  private let answers: WorkLimits
  private let answerTime: Duration
  private let metrics: ServerMetrics
  private let clock: @Sendable () -> Int64
  private let logger: Logger

  init(
    _ storage: any ServerStorage, _ settings: ServerSettings, _ connections: OpenConnections, _ logger: Logger
  ) {
    self.connections = connections
    let metrics = ServerMetrics()
    let body = IncomingBody(
      bytesAtWork: WorkLimits(max: settings.maxBytesAtWork, perLogin: settings.maxBytesAtWork / 2),
      time: settings.bodyTime, pace: (settings.bodyPaceBytes, settings.bodyPaceTime))
    self.storage = storage
    self.metrics = metrics
    self.logger = logger
    clock = settings.clock
    calls = WireCalls(body: body, clock: settings.clock, metrics: metrics)
    blobs = BlobCalls(body, settings)
    pages = settings.pages.map { PageCalls($0, storage.links, clock: settings.clock) }
    failedLogins = FailedLogins(maxFailures: settings.maxFailedLogins)
    failedLoginDelay = settings.failedLoginDelay
    requests = WorkLimits(max: settings.maxRequests, perLogin: settings.maxRequestsPerLogin)
    answers = WorkLimits(max: settings.maxAnswerBytes, perLogin: settings.maxAnswerBytes / 4)
    answerTime = settings.answerTime
  }

  func respond(to request: Request, from origin: RequestOrigin) async -> Response {
    let start = ContinuousClock.now
    connections.update(origin.channel, isWorking: true)
    let incoming = IncomingRequest(request)
    let route = WireRoute(path: incoming.path, method: request.method)
    var loginName: String?
    var answer: HTTPAnswer
    var isLogged = true
    do {
      answer = try await self.answer(incoming, route, origin, &loginName)
    } catch {
      let refusal = refusal(for: error)
      let isOfPage = route == .page && pages != nil
      answer =
        isOfPage
        ? PageCalls.answer(refusal)
        : HTTPAnswer(status: refusal.status, headers: refusal.headers, body: refusal.body)
      // The rest of the body may be unread and of any length, so the connection is closed. It is also closed
      // after a page, since the server may have read further requests; see `PageCalls.page`.
      answer.endsConnection = incoming.hasBody || refusal.endsConnection || isOfPage
      isLogged = !refusal.endsConnection
    }
    let duration = ContinuousClock.now - start
    await metrics.answered(route, answer.status.code, duration)
    // An answer to HEAD must never have a body, not even that of a refusal. The client would take the body
    // for the next answer.
    if request.method == .head { answer.body = [] }
    if isLogged { log(request.method, route, answer.status.code, duration, loginName) }
    return await answer.response(
      takesGzip: incoming.takesGzip,
      AnswerDelivery(
        limits: answers, login: loginName ?? "", channel: origin.channel, time: answerTime,
        connections: connections))
  }
}

extension WireResponder {
  private func answer(
    _ incoming: IncomingRequest, _ route: WireRoute?, _ origin: RequestOrigin, _ loginName: inout String?
  ) async throws -> HTTPAnswer {
    guard let route, isServed(route, incoming, origin) else {
      throw Refusal(.notFound, "not found")
    }
    guard !route.isOfPages || pages != nil else { throw Refusal(.notFound, "not found") }
    let method = incoming.request.method
    guard route.methods.contains(method) else {
      var refusal = Refusal(.badMethod, "\(route.path) supports only \(route.allowed)")
      refusal.allowed = route.allowed
      throw refusal
    }
    switch route {
    case .health, .ready:
      try await storage.check()
      return HTTPAnswer(body: Array("{\"status\":\"ok\"}".utf8))
    case .metrics:
      let text = await metrics.text + storage.metrics()
      return HTTPAnswer(body: Array(text.utf8), type: "text/plain; version=0.0.4")
    default: break
    }
    let login =
      route == .page ? try await pageLogin(incoming, origin) : try await login(incoming, origin)
    loginName = login.name
    // Logins that may only read can create links, since a link shows only what the login can read.
    guard !WireRoute.writes(method) || route == .pageLinks || login.role == .write else {
      throw Refusal(.readOnly, "this token may only read")
    }
    guard await requests.reserve(1, for: login.name) else {
      var refusal = Refusal(.busy, "too many requests at the same time; try again")
      refusal.retryAfterSeconds = 1
      throw refusal
    }
    var answer: HTTPAnswer
    do {
      answer = try await perform(route, incoming, login)
      await requests.release(1, for: login.name)
    } catch {
      await requests.release(1, for: login.name)
      throw error
    }
    if !WireRoute.writes(method), incoming.hasBody { answer.endsConnection = true }
    return answer
  }

  private func perform(_ route: WireRoute, _ incoming: IncomingRequest, _ login: Login) async throws
    -> HTTPAnswer
  {
    let logbook = storage.logbook(for: login)
    var (calls, blobs) = (calls, blobs)
    calls.body.login = login.name
    blobs.body.login = login.name
    return switch route {
    case .logbook: try await calls.logbook(incoming, logbook)
    case .purge: try await calls.purge(incoming, logbook)
    case .readings: try await calls.readings(incoming, logbook)
    case .records: try await calls.records(incoming, logbook)
    case .changes: try await calls.changes(incoming, logbook)
    case .digests: try await calls.digests(incoming, logbook)
    case .blobs: try await blobs.answer(incoming, logbook)
    case .pageLinks: try await pageCalls().makeLink(incoming, login)
    case .page: try await pageCalls().page(incoming, login, logbook)
    case .health, .ready, .metrics: throw Refusal(.notFound, "not found")
    }
  }

  private func login(_ incoming: IncomingRequest, _ origin: RequestOrigin) async throws -> Login {
    if let token = incoming.token,
      let login = try await storage.logins.login(tokenHash: token.hash, at: clock())
    {
      return login
    }
    throw try await failure(of: origin, Refusal(.login, "the token is missing, unknown or revoked"))
  }

  private func pageLogin(_ incoming: IncomingRequest, _ origin: RequestOrigin) async throws -> Login {
    if let login = try await pageCalls().login(incoming, storage.logins) { return login }
    throw try await failure(of: origin, PageCalls.unknownLink)
  }

  private func pageCalls() throws(Refusal) -> PageCalls {
    guard let pages else { throw Refusal(.notFound, "not found") }
    return pages
  }

  /// Counts a failed login. Returns `refusal`, or a refusal that asks to wait after too many failures.
  private func failure(of origin: RequestOrigin, _ refusal: Refusal) async throws -> Refusal {
    let verdict = await failedLogins.add(origin.address, at: clock())
    if let count = verdict.unlogged {
      logger.warning(
        "too many failed logins; their requests are not listed",
        metadata: ["count": .stringConvertible(count)])
    }
    if let wait = verdict.waitSeconds {
      try await Task.sleep(for: failedLoginDelay)
      var refusal = Refusal(.tooMany, "too many failed logins from this address")
      refusal.retryAfterSeconds = wait
      refusal.endsConnection = true
      return refusal
    }
    return refusal
  }

  /// Whether the address that received the request serves the route. If metrics have no separate address,
  /// they are only served to clients on this machine.
  private func isServed(_ route: WireRoute, _ incoming: IncomingRequest, _ origin: RequestOrigin) -> Bool {
    switch origin.routes {
    case .everything: route != .metrics || isLocal(incoming, origin)
    case .calls: route != .metrics
    case .metrics: route == .metrics || route == .health || route == .ready
    }
  }

  /// Whether the request comes from this machine directly, and not through a proxy.
  private func isLocal(_ incoming: IncomingRequest, _ origin: RequestOrigin) -> Bool {
    origin.isLoopback && !incoming.isForwarded
  }

  private func refusal(for error: any Error) -> Refusal {
    switch error {
    case let refusal as Refusal: return refusal
    case let error as JSONError: return Refusal(error)
    case let error as ServiceError:
      if case .serverFailure(_, let reason) = error {
        logger.error("storage failed", metadata: ["reason": "\(reason)"])
      }
      return Refusal(error)
    case is CancellationError: return Refusal(.busy, "the server is stopping")
    // The connection ended or violated HTTP while the body was read.
    default: return Refusal(.badRequest, "the body could not be read")
    }
  }

  private func log(
    _ method: HTTPRequest.Method, _ route: WireRoute?, _ status: Int, _ duration: Duration, _ login: String?
  ) {
    let milliseconds = Int(duration / .milliseconds(1))
    logger.info(
      "request",
      metadata: [
        "method": "\(route == nil ? "-" : method.rawValue)", "route": "\(route?.path ?? "-")",
        "status": .stringConvertible(status), "ms": .stringConvertible(milliseconds),
        "login": "\(login.map(Login.logID) ?? "-")",
      ])
  }
}

/// Counts requests, their durations and the stored items. It contains no personal data.
actor ServerMetrics {
  private var stored = 0
  private var accepted = 0
  /// The number of requests, by the labels for route and status.
  private var requests: [String: Int] = [:]
  /// The durations of requests, by the label for the route.
  private var times: [String: (total: Duration, count: Int)] = [:]

  func answered(_ route: WireRoute?, _ status: Int, _ duration: Duration) {
    let name = route?.rawValue ?? "other"
    requests["{route=\"\(name)\",status=\"\(status)\"}", default: 0] += 1
    let time = times["{route=\"\(name)\"}"] ?? (.zero, 0)
    times["{route=\"\(name)\"}"] = (time.total + duration, time.count + 1)
  }

  func readingsStored(_ count: Int) { stored += count }

  func recordsAccepted(_ count: Int) { accepted += count }

  /// All counts in the text format of Prometheus (exposition format 0.0.4).
  var text: String {
    var lines = [
      "# TYPE glucoport_readings_stored_total counter", "glucoport_readings_stored_total \(stored)",
      "# TYPE glucoport_record_changes_accepted_total counter",
      "glucoport_record_changes_accepted_total \(accepted)",
    ]
    if !requests.isEmpty { lines.append("# TYPE glucoport_requests_total counter") }
    for (labels, count) in requests.sorted(by: { $0.key < $1.key }) {
      lines.append("glucoport_requests_total\(labels) \(count)")
    }
    if !times.isEmpty { lines.append("# TYPE glucoport_request_duration_seconds summary") }
    for (labels, time) in times.sorted(by: { $0.key < $1.key }) {
      lines.append("glucoport_request_duration_seconds_sum\(labels) \(time.total / .seconds(1))")
      lines.append("glucoport_request_duration_seconds_count\(labels) \(time.count)")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
