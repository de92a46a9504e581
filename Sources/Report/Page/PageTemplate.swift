// SPDX-License-Identifier: Apache-2.0

import Logbook
import Mustache

/// The HTML of a page: one file without a script, which loads nothing.
package enum PageTemplate {
  /// The HTML of a page.
  ///
  /// `Markup` escapes all text, and the template inserts it unchanged. Mustache's own escaping compares
  /// characters, so it would not escape a special character with a combining mark.
  ///
  /// - Throws: an error of Mustache for an invalid template.
  package static func render(_ page: PageModel) throws -> String {
    try MustacheTemplate(string: text).render(
      Rendered(page: page, style: PageStyle.text, styleDigest: styleDigest))
  }

  private struct Rendered {
    let page: PageModel
    let style: String
    let styleDigest: String
  }

  /// The digest with which the browser verifies the style, so that no other style takes effect.
  private static var styleDigest: String {
    var digest = Digest()
    digest.update(PageStyle.text)
    return "sha256-" + base64(digest.bytes())
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let number = (0..<3).reduce(0) { $0 << 8 | (start + $1 < bytes.count ? Int(bytes[start + $1]) : 0) }
      for place in 0..<4 {
        text.append(place <= group.count ? digits[number >> (18 - 6 * place) & 63] : "=")
      }
    }
    return text
  }

  private static let text = """
    <!doctype html>
    <html lang="{{{page.language}}}">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{{{styleDigest}}}'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <meta name="robots" content="noindex">
    <meta name="color-scheme" content="light dark">
    <title>{{{page.title}}}</title>
    <style>{{{style}}}</style>
    </head>
    <body>
    <main>
    {{#page.navigation}}
    <nav aria-label="{{{label}}}"><ul>{{#links}}<li><a href="{{{target}}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{{text}}}</a></li>{{/links}}</ul></nav>
    {{/page.navigation}}
    {{#page.sheets}}
    <section id="{{{anchor}}}" class="sheet{{^isFirst}} page{{/isFirst}}">
    {{#boxes}}
    {{#isText}}<div class="box words">{{{reading}}}</div>{{/isText}}{{^isText}}<div class="box {{{kind}}}"{{#scrolls}} tabindex="0" role="group" aria-label="{{{title}}}"{{/scrolls}}>{{{svg}}}<div class="reading">{{{reading}}}</div></div>{{/isText}}{{#narrow}}<div class="box narrow">{{{svg}}}<div class="reading">{{{reading}}}</div></div>{{/narrow}}
    {{/boxes}}
    </section>
    {{/page.sheets}}
    {{#page.heading}}<h1>{{{.}}}</h1>{{/page.heading}}
    {{#page.notice}}<p class="notice">{{{.}}}</p>{{/page.notice}}
    <dl>{{#page.facts}}<div><dt>{{{head}}}</dt>{{#cells}}<dd>{{{.}}}</dd>{{/cells}}</div>{{/page.facts}}</dl>
    {{#page.sections}}
    <section id="{{{anchor}}}"{{#startsPage}} class="page"{{/startsPage}}>
    <h2>{{{heading}}}</h2>
    {{#blocks}}
    <div class="block">
    {{#parts}}
    {{#subtitle}}<h3>{{{.}}}</h3>{{/subtitle}}{{#paragraph}}<p>{{{.}}}</p>{{/paragraph}}{{#picture}}<div class="picture{{#narrow}} broad{{/narrow}}" tabindex="0" role="group" aria-label="{{{title}}}">{{{svg}}}<div class="reading">{{{reading}}}</div></div>{{#narrow}}<div class="picture narrow">{{{svg}}}<div class="reading">{{{reading}}}</div></div>{{/narrow}}{{/picture}}{{#table}}<div class="table" tabindex="0" role="group" aria-label="{{{caption}}}"><table class="{{{kind}}}"><caption>{{{caption}}}</caption><thead><tr>{{#columns}}<th scope="col">{{{.}}}</th>{{/columns}}</tr></thead><tbody>{{#rows}}<tr><th scope="row">{{{head}}}</th>{{#cells}}<td>{{{.}}}</td>{{/cells}}</tr>{{/rows}}</tbody></table></div>{{/table}}
    {{/parts}}
    </div>
    {{/blocks}}
    </section>
    {{/page.sections}}
    </main>
    </body>
    </html>

    """
}

/// The style of a page: light and dark, on a phone, and on A4 or Letter.
///
/// The browser itself breaks the texts of a sheet into lines. So a printed sheet is smaller than the page,
/// which leaves space for these texts below its pictures. A page of Letter is 255 mm high within its margins,
/// one of A4 273 mm.
enum PageStyle {
  static let text = """
    :root{color-scheme:light dark;--ink:#1a1a1a;--soft:#555;--paper:#fff;--line:#8a8a8a;--link:#1f4e79;\(light)}
    @media (prefers-color-scheme:dark){:root{--ink:#ececec;--soft:#b5b5b5;--paper:#161616;--line:#8a8a8a;--link:#9cc4ec;\(dark)}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.45 system-ui,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;\
    font-variant-numeric:tabular-nums}
    main{max-width:60rem;margin:0 auto;padding:1rem}
    h1{font-size:1.7rem;margin:.2rem 0}h2{font-size:1.25rem;margin:1.6rem 0 .5rem;border-bottom:1px solid var(--line)}
    h3{font-size:1rem;margin:1rem 0 .2rem}p{margin:.4rem 0;max-width:46rem}
    .notice{border:2px solid var(--ink);padding:.5rem .7rem;font-weight:600}
    dl{display:flex;flex-wrap:wrap;gap:.3rem 1.6rem;margin:.8rem 0}dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-weight:600}
    nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1rem;margin:.8rem 0;padding:0;list-style:none}a{color:var(--link)}
    nav a{display:inline-block;padding:.2rem 0}a[aria-current]{color:var(--ink);font-weight:600;text-decoration:none}
    .table{overflow-x:auto;margin:.6rem 0}
    table{border-collapse:collapse;font-size:.9rem}caption{text-align:left;color:var(--soft);padding:.2rem 0}
    th,td{padding:.2rem .6rem;border-bottom:1px solid var(--line);text-align:right;vertical-align:top}
    thead th{color:var(--soft);font-weight:600}th:first-child{text-align:left;font-weight:600}.dates tbody :is(th,td){white-space:nowrap}
    thead th{hyphens:auto}
    .text th,.text td{text-align:left}.text tbody th{overflow-wrap:anywhere}.text td{min-width:8em;overflow-wrap:anywhere}
    .sheet{display:flex;flex-wrap:wrap;gap:.7rem 1.5%;margin:0 0 2rem;align-items:flex-start}
    .box{position:relative;width:100%}.wide{overflow-x:auto}.narrow{display:none}.words{font-size:.85rem}.words p{max-width:none;margin:.2rem 0}
    @media (min-width:50rem){.p47{width:47.4%}.p51{width:51%}.p56{width:56.8%}.p41{width:41.5%}}
    .box svg,.picture svg{display:block;width:100%;height:auto;overflow:visible}.wide svg,.picture svg{min-width:51rem}.narrow svg{min-width:0}
    .picture{position:relative;overflow-x:auto}
    .reading,#sensor .block:first-of-type caption,#devices caption,#left-out caption,#days .text caption{position:absolute;\
    width:1px;height:1px;padding:0;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
    svg text{font-family:"DejaVu Sans Condensed","Roboto Condensed","Noto Sans",Arial,sans-serif;white-space:pre}svg .w{font-weight:700}svg .o{font-style:italic}
    svg .n{fill:none}svg path{stroke-linejoin:round}
    \(Ink.rules)
    @media screen and (max-width:49.99rem){.broad{display:none}.narrow{display:block;max-width:32rem}\
    .grid svg{display:none}.grid .reading{position:static;width:auto;height:auto;margin:0;overflow:visible;clip-path:none}\
    .grid .reading caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}\
    .grid .reading tr>:first-child{position:sticky;left:0;background:var(--paper);min-width:10.6em;max-width:11em;white-space:normal}.grid .reading :is(h2,p,th[scope=col]){white-space:normal}.grid .reading p{font-size:.85rem}}
    @page{size:auto;margin:12mm}
    @media print{:root{color-scheme:light;--ink:#000;--soft:#333;--paper:#fff;--line:#777;\(light)}
    *{-webkit-print-color-adjust:exact;print-color-adjust:exact}
    body{font-size:10pt}main{max-width:186mm;padding:0}table{font-size:8.5pt}th,td{padding:.12rem .35rem}.block{break-inside:avoid}h2,h3,caption,thead{break-after:avoid}\
    tr{break-inside:avoid}.page{break-before:page}.table,.picture,.wide{overflow:visible}nav{display:none}.picture svg,.wide svg{min-width:0}\
    .sheet{gap:8pt 1.5%;margin:0;break-inside:avoid}.words{font-size:7pt}\
    .p47{width:47.4%}.p51{width:51%}.p56{width:56.8%}.p41{width:41.5%}\
    dl:empty{display:none}.sheet{width:96%;margin:0 auto}}
    @media print and (max-height:265mm){.sheet{width:90%}}
    """

  private static let light = Ink.declarations(\.light)
  private static let dark = Ink.declarations(\.dark)
}

/// A piece of HTML or SVG. Text can be inserted only through the escaper, so that no text can act as markup.
package struct Markup: Hashable, Sendable, CustomStringConvertible {
  /// The markup itself.
  package let description: String
  /// The text from which this markup was made; empty for markup that this program made.
  let source: String

  /// Text from any source. Characters that could disturb a page are replaced, and the five special characters
  /// of markup are escaped.
  ///
  /// Scalars are compared, not characters: `<` with a combining mark is one character in Swift, but two for a
  /// browser.
  package init(_ text: String) {
    var escaped = String.UnicodeScalarView()
    source = ForeignText.shown(text)
    for scalar in source.unicodeScalars {
      switch scalar {
      case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
      case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
      case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
      case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
      case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    description = String(escaped)
  }

  /// Markup that this program made.
  init(made markup: String) { (description, source) = (markup, "") }
}
