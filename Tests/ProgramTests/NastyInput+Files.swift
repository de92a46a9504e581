// SPDX-License-Identifier: Apache-2.0

/// Inputs with difficult bytes and structure.
extension NastyInput {
  static let header = "time,glucose (mg/dL),notes\n"
  static let rows = "2026-03-01T08:00:00,110,\n2026-03-01T08:05:00,112,\n"
  private static let table = header + rows
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private static func utf16(_ text: String) -> [UInt8] {
    text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
  }

  static let files: [NastyInput] = [
    NastyInput("1 UTF-16LE without a mark", utf16(table), status: 0, new: 2),
    NastyInput(
      "2 UTF-16 of an odd length", [0xFF, 0xFE] + utf16(table) + [0x32], status: 65, new: 2,
      isTruncated: true, says: "truncated"),
    NastyInput(
      "2 UTF-16 cut in a surrogate", [0xFF, 0xFE] + utf16(table) + [0x3D, 0xD8], status: 65, new: 2,
      isTruncated: true, says: "truncated"),
    NastyInput("3 a mark encoded twice", "\u{EF}\u{BB}\u{BF}" + table, status: 0, new: 2),
    NastyInput(
      "3 a mark inside the first quoted header", "\"\u{FEFF}time\"" + table.dropFirst(4), status: 0, new: 2),
    NastyInput(
      "4 a mark in the middle",
      mark + Array(table.utf8) + mark + Array((header + "2026-03-01T09:00:00,99,\n").utf8),
      status: 0, new: 3),
    NastyInput(
      "5 a few NUL bytes", Array(table.utf8) + [0, 0] + Array("2026-03-01T09:00:00,99,\n".utf8), status: 0,
      new: 3),
    NastyInput(
      "5 many NUL bytes", Array(table.utf8) + [UInt8](repeating: 0, count: 400) + Array(rows.utf8),
      status: 65,
      new: nil, says: "NUL"),
    NastyInput(
      "6 Windows-1252",
      Array(table.utf8) + Array("2026-03-01T09:00:00,99,M".utf8) + [0xFC] + Array("de\n".utf8),
      status: 0, new: 3),
    NastyInput(
      "6 invalid UTF-8 in one note",
      Array((header + "2026-03-01T09:00:00,99,Müde\n").utf8) + Array("2026-03-01T09:05:00,98,a".utf8) + [
        0xFF, 0x0A,
      ],
      status: 0, new: 2),
    NastyInput("7 CR line ends", table.replacing("\n", with: "\r"), status: 0, new: 2),
    NastyInput(
      "7 CRLF, and LF in a note",
      table.replacing("\n", with: "\r\n")
        + "2026-03-01T09:00:00,99,\"two\nlines\"\r\n2026-03-01T09:05:00,98,\r\n",
      status: 0, new: 4),
    NastyInput(
      "8 a quoted field without an end",
      table + "2026-03-01T09:00:00,99,\"" + String(repeating: "x", count: 3_000_000)
        + "\n2026-03-01T10:00:00,97,\n",
      status: 3, new: 3, rejected: 1, says: ":4: "),
    NastyInput(
      "8 a line without an end",
      Array(table.utf8) + [UInt8](repeating: 0x39, count: 20_000_000) + Array("\n".utf8)
        + Array("2026-03-01T10:00:00,97,\n".utf8), status: 3, new: 3, rejected: 1, says: ":4: "),
    NastyInput("9 a cut time", table + "2026-03-01T0", status: 65, new: 2, isTruncated: true, says: ":4: "),
    NastyInput(
      "9 an array without its end",
      "[{\"time\":\"2026-03-01T08:00:00Z\",\"glucose\":110,\"unit\":\"mg/dL\"},",
      status: 65, new: 1, isTruncated: true, says: "bracket is missing"),
    NastyInput(
      "10 a page of the server behind the rows", table + "<html><body>502 Bad Gateway</body></html>\n",
      status: 3,
      new: 2, rejected: 1, says: ":4: "),
    NastyInput("10 Ctrl-Z at the end", table + "\u{1A}", status: 0, new: 2),
    NastyInput("10 Ctrl-Z behind the last cell", table.dropLast() + "\u{1A}", status: 0, new: 2),
    NastyInput(
      "10 Ctrl-Z behind a quoted cell", table + "\"2026-03-01T10:00:00\",\"99\",\"x\"\u{1A}", status: 0,
      new: 3),
    NastyInput(
      "10 Ctrl-Z behind an array", "[{\"sgv\":99,\"date\":1772355600000,\"type\":\"sgv\"}]\u{1A}", status: 0,
      new: 1),
    NastyInput("10 a page number", table + "Page 1 of 3\n", status: 3, new: 2, rejected: 1, says: ":4: "),
    NastyInput("11 an empty file", "", status: 65, new: nil, says: "empty"),
    NastyInput("11 only blanks", " \r\n\n", status: 65, new: nil, says: "empty"),
    NastyInput("11 only a header", header, status: 0, new: 0),
    NastyInput("11 an empty array", "[]", status: 0, new: 0),
    NastyInput(
      "12 a login page", "<!DOCTYPE html>\n<html>login</html>", status: 65, new: nil, says: "web page"),
    NastyInput("12 an error object", "{\"message\":\"Unauthorized\"}", status: 65, new: nil),
    NastyInput("12 an error envelope", "{\"status\":401,\"message\":\"Unauthorized\"}", status: 65, new: nil),
    NastyInput(
      "13 a spreadsheet", [0x50, 0x4B, 3, 4, 0x14, 0, 6, 0], status: 65, new: nil,
      says: "ZIP archive is damaged"),
    NastyInput(
      "13 an old spreadsheet", [0xD0, 0xCF, 0x11, 0xE0, 0xA1], status: 65, new: nil, says: "spreadsheet"),
    NastyInput("13 a database", "SQLite format 3\u{0}", status: 65, new: nil, says: "SQLite"),
    NastyInput("13 a PDF report", "%PDF-1.4\n", status: 65, new: nil, says: "PDF"),
    NastyInput("13 gzip that is none", [0x1F, 0x8B, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], status: 65, new: nil),
  ]

  private static let libre =
    "Device,Serial Number,Device Timestamp,Record Type,Historic Glucose mg/dL,Scan Glucose mg/dL,"
    + "Non-numeric Rapid-Acting Insulin,Rapid-Acting Insulin (units),Non-numeric Food,Carbohydrates (grams),"
    + "Carbohydrates (servings),Non-numeric Long-Acting Insulin,Long-Acting Insulin (units),Notes,"
    + "Strip Glucose mg/dL,Ketone mmol/L,Meal Insulin (units),Correction Insulin (units),"
    + "User Change Insulin (units)\n"

  private static func libre(_ time: String, _ type: Int, _ values: String, padding: Int = 13) -> String {
    "FreeStyle Libre,AAAA000-A0001,\(time),\(type),\(values)" + String(repeating: ",", count: padding) + "\n"
  }

  static let structures: [NastyInput] = [
    NastyInput(
      "16 a header in the middle with another order",
      table + "glucose (mg/dL),time,notes\n99,2026-03-01T09:00:00,\n", status: 0, new: 3),
    NastyInput(
      "17 rows longer and shorter than the header",
      table + "2026-03-01T09:00:00,99\n2026-03-01T09:05:00,98,,,\n", status: 0, new: 4),
    NastyInput(
      "18 rows and header padded by a spreadsheet",
      "time,glucose (mg/dL),,,,\n 2026-03-01T09:00:00 ,99,,,,\n,,,,,\n", status: 0, new: 1),
    NastyInput(
      "19 an unnamed index column",
      ",time,glucose (mg/dL)\n0,2026-03-01T09:00:00,99\n1,2026-03-01T09:05:00,98\n",
      status: 0, new: 2),
    NastyInput(
      "19 a column Unnamed: 0", "Unnamed: 0,time,glucose (mg/dL)\n0,2026-03-01T09:00:00,99\n", status: 0,
      new: 1),
    NastyInput(
      "20 columns in another order", "glucose (mg/dL),time\n99,2026-03-01T09:00:00\n", status: 0, new: 1),
    NastyInput(
      "21 quotes that nobody escaped", header + "2026-03-01T09:00:00,99,\"he said \"no\" twice\"\n" + rows,
      status: 0, new: 3),
    NastyInput(
      "21 JSON in a cell", header + "2026-03-01T09:00:00,99,\"{\"\"a\"\":[1,2]}\"\n" + rows, status: 0, new: 3
    ),
    NastyInput(
      "22 notes that look like formulas", header + "2026-03-01T09:00:00,99,=1+1\n2026-03-01T09:05:00,98,@x\n",
      status: 0, new: 2),
    NastyInput(
      "23 control characters and emoji in notes",
      header + "2026-03-01T09:00:00,99,\u{1B}[31m\u{202E}😀\n", status: 0, new: 1),
    NastyInput(
      "26 history and scan in one row", libre + libre("03-14-2026 08:00 AM", 0, "110,112"), status: 0, new: 2),
    NastyInput(
      "27 decimal commas without quotes",
      libre + libre("14-03-2026 08:00", 0, "110")
        + libre("14-03-2026 08:30", 6, ",,,,,,,,,,,0,5,6,,", padding: 0),
      status: 3, new: 1, rejected: 1, says: ":3: "),
    NastyInput(
      "40 two scans in one minute",
      libre + libre("14-03-2026 08:00", 1, ",110", padding: 12)
        + libre("14-03-2026 08:00", 1, ",112", padding: 12),
      status: 0, new: 2),
    NastyInput(
      "44 the same row three times",
      libre + libre("14-03-2026 08:00", 1, ",110", padding: 12)
        + libre("14-03-2026 08:00", 1, ",110", padding: 12)
        + libre("14-03-2026 08:00", 1, ",110", padding: 12),
      status: 0, new: 1),
  ]
}
