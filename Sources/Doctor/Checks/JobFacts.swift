// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The jobs that run glucoport regularly, as far as files show them.
package struct JobFacts: Sendable {
  /// The name of the user; nil if the system has none.
  package var user: String?
  /// The enabled timers and services of glucoport, by their paths.
  package var units: [String]
  /// The crontabs that contain glucoport.
  package var crontabs: [String]
  /// Whether the user's own crontab can be read, or certainly does not exist.
  package var seesCrontab: Bool
  /// Whether the user's units also run while the user is logged out.
  package var lingers: Bool
  /// Whether the system has a program with which cron can send mail.
  package var hasMail: Bool
  /// Whether the store has a remote.
  package var hasRemote: Bool
  /// Whether the store has a source.
  package var hasSources = false

  /// The facts about the jobs of a user.
  package init(
    user: String?, units: [String] = [], crontabs: [String] = [], seesCrontab: Bool = true,
    lingers: Bool = true,
    hasMail: Bool = true, hasRemote: Bool = false
  ) {
    self.user = user
    self.units = units
    self.crontabs = crontabs
    self.seesCrontab = seesCrontab
    self.lingers = lingers
    self.hasMail = hasMail
    self.hasRemote = hasRemote
  }

  /// Finds the jobs of a user in the files of systemd and cron.
  ///
  /// - Parameters:
  ///   - configuration: the user's configuration folder; nil if the environment has none.
  ///   - root: a folder in which the system's folders are searched, for tests; empty for this system.
  package static func of(user: String?, configuration: String?, hasRemote: Bool, below root: String = "")
    -> JobFacts
  {
    let folders = (configuration.map { [$0 + "/systemd/user"] } ?? []) + [root + "/etc/systemd/user"]
    let units = folders.flatMap { folder in
      ["timers.target.wants", "default.target.wants"].flatMap { wants in
        SystemText.names(folder + "/" + wants).filter { $0.hasPrefix("glucoport") }.map {
          "\(folder)/\(wants)/\($0)"
        }
      }
    }
    let spool = root + "/var/spool/cron/crontabs"
    let own = user.map { spool + "/" + $0 }
    let shared = SystemText.names(root + "/etc/cron.d").map { root + "/etc/cron.d/" + $0 }
    let files = [root + "/etc/crontab"] + shared + (own.map { [$0] } ?? [])
    let mailers = ["/usr/sbin/sendmail", "/usr/lib/sendmail"]
    return JobFacts(
      user: user, units: units, crontabs: files.filter { SystemText.of($0)?.contains("glucoport") == true },
      // Without permission for the folder of the crontabs, this program cannot find out whether the user's
      // crontab exists.
      seesCrontab: FileFact.at(spool) == nil || own.map { SystemText.of($0) != nil } ?? true,
      lingers: user.map { FileFact.at(root + "/var/lib/systemd/linger/" + $0) != nil } ?? false,
      hasMail: mailers.contains { FileFact.at(root + $0, followsLink: true) != nil }, hasRemote: hasRemote)
  }

  /// The problems that keep jobs from running, or their errors from being noticed. If there are none, one
  /// finding names the jobs.
  var findings: [Finding] {
    var found: [Finding] = []
    let hint = seesCrontab ? "" : "; your own crontab cannot be read by this program"
    if units.isEmpty, crontabs.isEmpty, hasRemote {
      found.append(
        Finding(
          .jobs, .note, "no timer and no crontab was found that runs 'glucoport upload'\(hint)",
          fix: seesCrontab ? "systemctl --user enable --now glucoport-upload.timer" : "crontab -l"))
    }
    if hasSources, crontabs.isEmpty, !units.contains(where: { $0.hasSuffix("glucoport-fetch.timer") }) {
      found.append(
        Finding(
          .jobs, .note, "no timer and no crontab was found that runs 'glucoport fetch'\(hint)",
          fix: seesCrontab ? "systemctl --user enable --now glucoport-fetch.timer" : "crontab -l"))
    }
    if !units.isEmpty, !lingers {
      found.append(
        Finding(
          .jobs, .note, "your timers run only while you are logged in",
          fix: "sudo loginctl enable-linger" + (user.map { " \(quoted($0))" } ?? "")))
    }
    if !crontabs.isEmpty, !hasMail {
      found.append(
        Finding(
          .jobs, .note, "cron has no program that sends mail, so that a job can fail unnoticed",
          fix: "sudo apt install msmtp-mta"))
    }
    if !found.isEmpty { return found }
    let jobs = units + crontabs
    let text =
      jobs.isEmpty
      ? "no job is needed without a remote and a source" : jobs.map(PathText.shown).joined(separator: ", ")
    return [Finding(.jobs, .ok, text)]
  }
}
