// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore

/// Runs a command once for each person. A failure for one person does not prevent the runs for the others.
struct PersonVisit {
  private let persons: [Person]

  /// Nil if an option or an environment variable selects a store, if the command does not visit all persons,
  /// or if there are no persons.
  init?(for visitor: any PersonVisitor) throws {
    guard visitor.visitsAll, !visitor.storeOptions.isChosen else { return nil }
    persons = try PersonList.load().all
    if persons.isEmpty { return nil }
  }

  /// Runs the command for each person, one after the other.
  ///
  /// - Throws: the `ExitStatus` with the highest priority of all runs.
  func run(_ visitor: any PersonVisitor, _ output: Output) async throws {
    if persons.count > 1 { try visitor.validateForSeveral() }
    var statuses: [ExitStatus] = []
    for person in persons {
      try await Output.$subject.withValue(persons.count > 1 ? person.name : nil) {
        statuses.append(await visit(person, visitor, output))
        try output.finish()
      }
    }
    let worst = ExitStatus.of(statuses)
    if worst != .done { throw worst }
  }

  private func visit(_ person: Person, _ visitor: any PersonVisitor, _ output: Output) async -> ExitStatus {
    do {
      var one = visitor
      one.storeOptions.person = person.name
      guard try Store.exists(path: person.store) else {
        if !visitor.needsNoHeading { output.message("glucoport: no store yet") }
        return .done
      }
      if let reason = try visitor.reasonToSkip(Store(path: person.store, role: .reader)) {
        if !visitor.needsNoHeading { output.message("glucoport: \(reason)") }
        return .done
      }
      if persons.count > 1, !visitor.needsNoHeading {
        output.line("\(displayed(person.name)):")
        try output.finish()
      }
      if var waiting = one.waiting {
        try await waiting.run()
      } else {
        try one.run()
      }
      return .done
    } catch {
      return Glucoport.report(error, type(of: visitor).failureSuffix, output)
    }
  }
}
