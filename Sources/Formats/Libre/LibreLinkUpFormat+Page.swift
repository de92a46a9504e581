// SPDX-License-Identifier: Apache-2.0

extension LibreLinkUpFormat {
  static let page = FormatPage(
    origin: [
      "a program that asks LibreLinkUp, with its answer in a pipe: PROGRAM | glucoport import -"
    ],
    variants: [
      "answers with connections, a graph or the logbook"
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "the graph of some 12 hours as sensor history",
      "the current value and those of the logbook as scans",
    ],
    leaves: [
      "tokens, names and ids of patients, which are never stored or printed"
    ])
}
