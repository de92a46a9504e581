// SPDX-License-Identifier: Apache-2.0

import Logbook
import Mustache

/// The HTML of a page: one file without a script, which loads nothing.
package enum PageTemplate {
  /// The page.
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
    <svg class="patterns" aria-hidden="true" width="0" height="0"><defs>
    <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground-low" width="6" height="6"/><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern>
    <pattern id="cross" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground-very-low" width="5" height="5"/><path class="hatch" d="M0 0V5M0 0H5"/></pattern>
    <pattern id="grain" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="ground-high" width="6" height="6"/><circle class="grain" cx="3" cy="3" r="1"/></pattern>
    </defs></svg>
    <main>
    <header>
    <h1>{{{page.title}}}</h1>
    <p class="notice">{{{page.notice}}}</p>
    <dl>{{#page.facts}}<div><dt>{{{head}}}</dt>{{#cells}}<dd>{{{.}}}</dd>{{/cells}}</div>{{/page.facts}}</dl>
    {{#page.navigation}}
    <nav aria-label="{{{label}}}"><ul>{{#links}}<li><a href="{{{target}}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{{text}}}</a></li>{{/links}}</ul></nav>
    {{/page.navigation}}
    </header>
    {{#page.sections}}
    <section id="{{{anchor}}}"{{#startsPage}} class="page"{{/startsPage}}>
    <h2>{{{heading}}}</h2>
    {{#blocks}}
    <div class="block">
    {{#parts}}
    {{#subtitle}}<h3>{{{.}}}</h3>{{/subtitle}}{{#paragraph}}<p>{{{.}}}</p>{{/paragraph}}{{#picture}}{{{.}}}{{/picture}}{{#table}}<div class="table" tabindex="0" role="group" aria-label="{{{caption}}}"><table class="{{{kind}}}"><caption>{{{caption}}}</caption><thead><tr>{{#columns}}<th scope="col">{{{.}}}</th>{{/columns}}</tr></thead><tbody>{{#rows}}<tr><th scope="row">{{{head}}}</th>{{#cells}}<td>{{{.}}}</td>{{/cells}}</tr>{{/rows}}</tbody></table></div>{{/table}}
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
