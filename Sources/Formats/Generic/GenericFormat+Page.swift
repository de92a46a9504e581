// SPDX-License-Identifier: Apache-2.0

extension GenericFormat {
  static let page = FormatPage(
    origin: [
      "any app or program: a table with a header, or JSON objects"
    ],
    variants: [
      "CSV, TSV, a sheet of XLSX or ODS, JSON, NDJSON",
      "with columns that --map names, and rows that --where chooses",
    ],
    languages: "words of headers in English, German, Spanish, French and others; --map for the rest",
    reads: [
      "glucose with its time; the unit and the kind as far as the input shows them",
      "ketones, insulin, carbohydrates, notes, devices and serial numbers in columns that say so",
    ],
    leaves: [
      "columns of other things",
      "rows of another unit or kind, which are counted by name",
    ])
}
