// SPDX-License-Identifier: Apache-2.0

extension Failure {
  /// What the error of a service means for a command that cannot go on: the one place that gives each its category.
  ///
  /// - Parameter host: the remote, as people know it.
  public init(_ error: ServiceError, host: String) {
    switch error {
    case .unavailable(let sentence): self.init(.unavailable, sentence)
    case .busy(let sentence, let seconds):
      let wait = seconds.map { "; try again in \($0) s" } ?? "; try again later"
      self.init(.temporary, sentence + wait)
    case .serverFailure(let sentence, _): self.init(.temporary, "\(sentence); try again later")
    case .tooLarge: self.init(.protocolViolation, "\(host): it takes not even the smallest request")
    case .refused(let sentence): self.init(.protocolViolation, sentence)
    case .loginRefused(let sentence):
      self.init(.permission, "\(sentence); the login is refused: check the token, or ask for another one")
    case .readOnly: self.init(.permission, "\(host): this login may read only; ask for one that may write")
    case .nodeReused:
      self.init(
        .temporary,
        "\(host): it knows this store from another machine, or a later one; the next 'glucoport upload' takes an id of its own"
      )
    case .otherLogbook(let id):
      self.init(
        .configuration,
        "\(host): it has another logbook (\(id)) than this store was synced with; 'glucoport remote set --new-remote' sends everything to it"
      )
    case .positionUnknown:
      self.init(
        .temporary,
        "\(host): it was restored from a backup and does not know this store's position; try again")
    case .protocolViolation(let sentence): self.init(.protocolViolation, sentence)
    case .purged:
      self.init(
        .configuration,
        "\(host): the logbook was removed there for ever, and nothing is sent to it again; what this store holds stays: 'glucoport remote set --new-remote' sends it to another logbook, 'glucoport remote purge' removes it, too"
      )
    }
  }
}
