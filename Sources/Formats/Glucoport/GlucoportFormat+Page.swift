// SPDX-License-Identifier: Apache-2.0

extension GlucoportFormat {
  static let page = FormatPage(
    origin: [
      "glucoport export, or glucoport export --format ndjson"
    ],
    variants: [
      "CSV and NDJSON, with one line for each reading and record"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "every reading and record with all parts of its identity, so that importing an export stores "
        + "nothing twice",
      "the offsets that the other logbook derived",
    ],
    leaves: [
      "the content of attachments, which no export has",
      "deleted records, unless the export has them: --deleted",
    ])
}
