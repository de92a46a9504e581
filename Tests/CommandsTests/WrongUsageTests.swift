// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import glucoport

/// Tests that an invalid command line is refused before a file is opened. The message names the invalid part.
@Suite struct WrongUsageTests {
  /// Splits a line into words as a shell does. A part in quotation marks is one word.
  private static func words(_ line: String) -> [String] {
    line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
      index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
    }
  }

  private static func expectRefused(_ line: String, _ part: String) throws {
    let refusal = #expect(throws: (any Error).self, "\(line)") {
      try CommandArguments(words: words(line)).parse()
    }
    let error = try #require(refusal)
    #expect(Glucoport.exitCode(for: error) == .validationFailure, "\(line)")
    let message = Glucoport.fullMessage(for: error).split(separator: "\n").first ?? ""
    #expect(message.contains(part), "\(line): \(message)")
  }

  @Test(arguments: [
    ("stats --since soon", "--since"), ("stats --until 2026-02-30", "--until"),
    ("stats --since 25:00", "--since"), ("stats --last 14", "--last"), ("stats --last 0d", "--last"),
    ("stats --last 14m", "--last"), ("stats --last 1.5d", "--last"),
    ("stats --last 14d --since 2026-01-01", "Use --last, or --since and --until."),
    ("stats --by year", "--by"), ("stats --by", "--by"), ("stats --unit mmol/mol", "--unit"),
    ("stats --targets 80", "Unknown targets '80'"),
    ("stats --targets 180-70-1", "Unknown targets '180-70-1'"),
    ("stats --targets strict", "Unknown targets 'strict'"), ("stats --device=", "--device"),
    ("stats --format xml", "--format"), ("stats --json --format csv", "--json"),
    ("stats --json --plot", "--plot"), ("stats --ascii", "--ascii"),
    ("stats --plot --ascii --plain", "--ascii"), ("stats extra", "extra"),
    ("stats --last -3d", "--last: '-3d' is negative"), ("day 2026-13-01", "there is no day 2026-13-01"),
    ("day 01.03.2026", "the year first: 2026-03-01."), ("stats -5.csv", "write './-5.csv'"),
    ("day yesterday today", "today"), ("day --json", "--json"),
    ("day --targets 1e2-180", "Unknown targets '1e2-180'"), ("day --ascii --plain", "--ascii"),
    ("report --last x", "--last"), ("report --format doc", "--format"), ("report -o", "-o"),
    ("report --output=", "--output"), ("report -o a.pdf --format html", "'a.pdf' is the name of a PDF file"),
    ("report -o b/a.html --format pdf", "is the name of an HTML file, and --format pdf makes a PDF file"),
    ("report -o b.html/a.CSV", "'b.html/a.CSV' is not the name of a report, whose forms are .html and .pdf"),
    ("report -o a.docx --format pdf", "'a.docx' is not the name of a report"),
    ("report -o a.HTM --format pdf", "leave out --format"), ("report --since 2026-01-01 --last 3d", "--last"),
    ("report -o x.html --lang xx", "--lang"), ("list --limit 0", "--limit"),
    ("list --limit -1", "--limit: '-1' is negative; write a positive number."),
    ("list --limit -3 x", "--limit"), ("show -4", "Error: '-4' is negative"),
    ("list --limit many", "--limit"), ("list --format xml", "--format"),
    ("list --kind sbg", "Unknown kind 'sbg'"), ("list --since 3w", "--since"),
    ("list --plot --format csv", "--plot"), ("list --ascii", "--ascii needs --plot."),
    ("list --days --format csv", "--days"), ("list --unit mg/l", "--unit"), ("show", "id"),
  ])
  func commandsThatReadNameTheInvalidArgument(_ line: String, _ part: String) throws {
    try Self.expectRefused(line, part)
  }

  @Test(arguments: [
    ("export --format xlsx", "--format"), ("export --spreadsheet-safe --format ndjson", "--spreadsheet-safe"),
    ("export --both-units --format fhir", "--both-units"), ("export --profile cgm", "--profile"),
    ("export --profile x --format fhir", "--profile"), ("export --patient-name Anna", "--patient-name"),
    ("export --patient-name= --format fhir", "--patient-name"),
    ("export --kind food,pills", "Unknown kind 'pills'"), ("import --date-order ymd x.csv", "--date-order"),
    ("import --last-line cut x.csv", "--last-line"),
    ("import --format excel x.csv", "Unknown format 'excel'"),
    ("import --format LibreView x.csv", "did you mean libreview?"),
    ("import --kind scan,cbg x.csv", "--kind"),
    ("import --kind ketone x.csv", "--kind"), ("import --unit g/l x.csv", "--unit"),
    ("import --map time x.csv", "--map"), ("import --map =x x.csv", "--map"),
    ("import --where x x.csv", "--where"), ("import --depth 0 x", "--depth"),
    ("import --max-rejects -1 x.csv", "--max-rejects"), ("import --max-rejects=-1 x.csv", "--max-rejects"),
    ("import --rejects-append x.csv", "--rejects-append"), ("import --json --rejects - x.csv", "--rejects"),
    ("import", "Name a file, - for standard input, or --meter."), ("undo --json --quiet", "--quiet"),
    ("undo first", "number"), ("redo --json --quiet", "--quiet"), ("log --limit 0", "--limit"),
    ("log x", "number"),
    ("formats none-such", "Unknown format 'none-such'; 'glucoport formats' lists the formats."),
    ("formats Dexcom", "did you mean clarity, dexcom-api or dexcom-share?"),
    ("formats 'apple health'", "did you mean apple-health?"), ("formats mysugar", "did you mean mysugr?"),
    ("import --new --zone X --transcript f", "Unknown option '--new'"),
    ("import --zone=X f", "Unknown option '--zone'; did you mean '--timezone'?"),
    ("import --transcript f --meter --frce", "Unknown option '--frce'"),
    ("export -o x.csv", "Unknown option '-o'; 'glucoport help export' lists the options."),
    ("report -o x.pdf --forc", "Unknown option '--forc'"),
    ("meter info --driver x", "Unknown driver 'x'"),
    ("meter info --usb 1a79:6300", "--usb"),
  ])
  func commandsThatImportAndExportNameTheInvalidArgument(_ line: String, _ part: String) throws {
    try Self.expectRefused(line, part)
  }

  @Test(arguments: [
    ("reading hide", "device"), ("reading hide x --device D", "--device"),
    ("reading hide --since 2026-01-01", "--device"),
    ("reading hide x --since 2026-01-01", "--since and --until need --device."),
    ("reading hide --device D --until soon", "--until"), ("reading restore", "device"),
    ("record add", "kind"), ("record add pills 3", "pills"),
    ("record add glucose 6.1", "A reading is typed with 'glucoport add'"),
    ("record add --json glucose 6.1", "A reading is typed with 'glucoport add'"),
    ("record add smbg 6.1", "A reading is typed with"), ("reading add 6.1", "A reading is typed with"),
    ("record add insulin -4", "'-4' is negative"), ("record add insulin -4.5U", "'-4.5U' is negative"),
    ("record add food 45 g --at 8.05", "a time of day is written with a colon: 8:05."),
    ("record add food 45 g --at 06.05.2026", "the year first: 2026-05-06."),
    ("record add food 45 g --at soon", "--at"),
    ("record add food 45 g --at 2026-01-01+02:00", "--at"), ("record add annotation", "annotation"),
    ("record add food 45 g --json --quiet", "--quiet"), ("record edit abc", "Nothing to change"),
    ("record attach abc", "file"), ("record attach abc a b --name x", "--name"),
    ("record attach abc -", "--name"), ("record list --kind cbg", "record list"),
    ("config colour", "Unknown setting 'colour'"), ("config colour blue", "Unknown setting 'colour'"),
    ("config unit mg/dL extra", "extra"), ("config timezone --from 2026-01-01", "--from"),
    ("config timezone --remove 1 Europe/Madrid", "--remove"),
    ("config timezone Europe/Madrid --remove 1", "--remove"),
    ("config timezone --from soon Europe/Madrid", "--from"), ("config pull-interval 5", "pull-interval"),
    ("setup --prefix relative system", "--prefix"), ("doctor extra", "extra"),
  ])
  func commandsThatWriteDataNameTheInvalidArgument(_ line: String, _ part: String) throws {
    try Self.expectRefused(line, part)
  }

  @Test(arguments: [
    ("conflict resolve x", "--keep"), ("conflict resolve x --keep mine --edit", "--keep"),
    ("conflict resolve x --keep ours", "--keep"), ("queue add readings x", "id"), ("queue add record", "id"),
    ("queue add record x --since 2026-01-01", "--since"), ("queue add pills", "pills"),
    ("upload --push-only --pull-only", "--push-only"), ("upload --all --dry-run", "--all"),
    ("upload --zone mine --dry-run", "--zone"), ("upload --zone ours", "--zone"),
    ("upload --retry-refused --pull-only", "--retry-refused"), ("upload --max-bytes 1.5MiB", "--max-bytes"),
    ("upload --max-bytes 5TB", "--max-bytes"), ("upload --max-time -5", "--max-time"),
    ("upload --max-time 5d", "--max-time"), ("upload --pull sometimes", "--pull"),
    ("remote set https://x --token-file a --token-command b", "--token-file"), ("remote set", "url"),
    ("remote set nightscout.example.org", "begin with https://, such as https://nightscout.example.org"),
    ("remote set https://x", "--token-file"), ("remote set http://x", "--insecure-http"),
    ("remote page --expires 0s", "--expires"),
    ("remote set https://x --client-cert a --token-file t", "--client-cert"),
    ("serve --tls-cert a", "--tls-cert"), ("serve --client-ca a", "--client-ca"),
    ("serve --listen", "--listen"), ("serve token add", "<name>"), ("status --quiet", "--check"),
    ("status --max-age 36h", "--check"), ("status --max-reading-age 7d", "--check"),
    ("status --check --max-reading-age 7", "--max-reading-age"),
    ("status --check --max-age soon", "--max-age"),
    ("status --check --format xml", "--format"), ("status --check --format nagios --json", "--format"),
    ("status --check --ignore weather", "--ignore"), ("status --json --quiet --check", "--quiet"),
    ("status --watch --json", "--watch"), ("verify --fix --json x", "x"),
  ])
  func commandsThatSyncNameTheInvalidArgument(_ line: String, _ part: String) throws {
    try Self.expectRefused(line, part)
  }

  /// Valid lines for the same commands. They show that the tests above do not pass just because everything is
  /// refused.
  @Test(arguments: [
    "stats --since yesterday --until now", "stats --last 4w --by weekday --json",
    "stats --last 36h --unit mmol/L --targets 3.9-10", "stats --plot --plain",
    "stats --format csv --by device", "day 2026-05-06 --ascii", "day yesterday --targets pregnancy",
    "report -o x.html --last 90d", "report --output - --since 2026-01-01",
    "list --limit 1 --kind smbg,food", "list --days --format ndjson", "list --plot --ascii",
    "list --format csv --both-units", "export --format fhir --profile cgm",
    "export --format fhir-ndjson --patient-name Anna", "export --spreadsheet-safe",
    "import x.csv --date-order dmy --unit mg/dL", "import --kind scan x.csv --map time=a,value=b",
    "import x.csv --where a=b --depth 2 --max-rejects 0", "import --rejects out --rejects-append x.csv",
    "import -", "undo 3 --dry-run", "redo 3 --yes", "log 2", "log --limit 5", "reading hide abc",
    "reading hide --device D --since 2026-01-01 --until yesterday", "record add food 45 g --at 18:30",
    "record add annotation abc", "record edit abc --note x", "record attach abc a --name b",
    "record list --kind food", "config unit mmol/L",
    "config timezone Europe/Madrid --from 2026-01-01 --until 2026-02-01", "config timezone --remove 1",
    "config pull-interval 12h", "conflict resolve x --keep mine", "queue add readings --since 2026-01-01",
    "queue add record x", "upload --push-only", "upload --all --max-bytes 5MiB --max-time 5m",
    "serve --tls-cert a --tls-key b --client-ca c", "status --check --max-reading-age 7d",
    "report -o a.pdf --format pdf", "report -o a.pdf --pages summary,log --paper Letter",
    "report -o a.b --quiet", "record add note -- -4", "status --check --max-age 36h --format nagios",
    "status --watch", "setup system --prefix /usr/local", "meter udev-rules --group plugdev",
    "doctor --deep --online --json",
  ])
  func validCommandLinesAreParsed(_ line: String) throws {
    #expect(throws: Never.self, "\(line)") { try CommandArguments(words: Self.words(line)).parse() }
  }
}
