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
    <main>
    {{#page.navigation}}
    <nav aria-label="{{{label}}}"><ul>{{#links}}<li><a href="{{{target}}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{{text}}}</a></li>{{/links}}</ul></nav>
    {{/page.navigation}}
    {{#page.sheets}}
    <section id="{{{anchor}}}" class="sheet{{^isFirst}} page{{/isFirst}}">
    {{#boxes}}
    {{#isText}}<div class="box words">{{{reading}}}</div>{{/isText}}{{^isText}}<div class="box {{{kind}}}"{{#scrolls}} tabindex="0" role="group" aria-label="{{{title}}}"{{/scrolls}}>{{{svg}}}<div class="reading">{{{reading}}}</div></div>{{/isText}}
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
    {{#subtitle}}<h3>{{{.}}}</h3>{{/subtitle}}{{#paragraph}}<p>{{{.}}}</p>{{/paragraph}}{{#picture}}<div class="picture" tabindex="0" role="group" aria-label="{{{title}}}">{{{svg}}}<div class="reading">{{{reading}}}</div></div>{{/picture}}{{#table}}<div class="table" tabindex="0" role="group" aria-label="{{{caption}}}"><table class="{{{kind}}}"><caption>{{{caption}}}</caption><thead><tr>{{#columns}}<th scope="col">{{{.}}}</th>{{/columns}}</tr></thead><tbody>{{#rows}}<tr><th scope="row">{{{head}}}</th>{{#cells}}<td>{{{.}}}</td>{{/cells}}</tr>{{/rows}}</tbody></table></div>{{/table}}
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
