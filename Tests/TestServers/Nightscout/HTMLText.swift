// SPDX-License-Identifier: Apache-2.0

/// Cleans texts as Nightscout's API v1 does before it stores them. A text that contains `<` is parsed as
/// HTML and written again: harmless tags are closed, and all other tags are removed.
enum HTMLText {
  /// Tags that are removed with their content.
  private static let removed: Set<String> = [
    "script", "style", "iframe", "noscript", "noembed", "noframes", "object", "embed", "template", "title",
    "textarea", "xmp", "plaintext", "head", "base", "link", "meta",
  ]
  private static let kept: Set<String> = [
    "a", "abbr", "address", "article", "aside", "audio", "b", "bdi", "bdo", "big", "blockquote", "br",
    "button",
    "center", "cite", "code", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "fieldset",
    "figcaption",
    "figure", "font", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "img",
    "input",
    "ins", "kbd", "label", "legend", "li", "main", "map", "mark", "meter", "nav", "ol", "optgroup", "option",
    "output", "p", "pre", "progress", "q", "s", "samp", "section", "select", "small", "source", "span",
    "strike",
    "strong", "sub", "summary", "sup", "time", "track", "tt", "u", "ul", "var", "video", "wbr",
  ]
  private static let void: Set<String> = ["br", "hr", "img", "input", "source", "track", "wbr"]
  private static let keptAttributes: Set<String> = [
    "align", "alt", "class", "color", "colspan", "dir", "disabled", "height", "href", "id", "lang", "name",
    "role",
    "rowspan", "src", "style", "title", "type", "value", "width",
  ]
  private static let entities: [String: Character] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}",
  ]

  private struct Tag {
    var name = ""
    var isEnd = false
    var attributes: [(name: String, value: String)] = []
  }

  /// Cleans all texts in a value, at any depth. A text that is a number is not changed.
  static func cleaned(_ value: DocumentValue) -> DocumentValue {
    switch value {
    case .string(let text): .string(JavaScriptNumber.of(text).isNaN ? cleaned(text) : text)
    case .array(let items): .array(items.map(cleaned))
    case .object(let object): .object(object.mapValues(cleaned))
    default: value
    }
  }

  static func cleaned(_ text: String) -> String {
    guard text.contains("<") else { return text }
    var rest = Array(text)[...]
    var written = ""
    var open: [String] = []
    while let first = rest.first {
      guard first == "<" else {
        written += escaped(plain(&rest))
        continue
      }
      guard let tag = tag(&rest) else {
        written += "&lt;"
        rest.removeFirst()
        continue
      }
      write(tag, &written, &open, &rest)
    }
    return written + open.reversed().map { "</\($0)>" }.joined()
  }

  private static func write(
    _ tag: Tag, _ written: inout String, _ open: inout [String], _ rest: inout ArraySlice<Character>
  ) {
    if removed.contains(tag.name) {
      if !tag.isEnd { skip(past: tag.name, &rest) }
    } else if !kept.contains(tag.name) {
      return
    } else if tag.isEnd {
      guard let place = open.lastIndex(of: tag.name) else { return }
      while open.count > place { written += "</\(open.removeLast())>" }
    } else {
      let attributes = tag.attributes.map { " \($0.name)=\"\($0.value)\"" }.joined()
      written += "<\(tag.name)\(attributes)>"
      if !void.contains(tag.name) { open.append(tag.name) }
    }
  }

  /// The text before the next tag, with its entities resolved.
  private static func plain(_ rest: inout ArraySlice<Character>) -> String {
    let raw = rest.prefix { $0 != "<" }
    rest = rest.dropFirst(raw.count)
    return resolved(raw)
  }

  private static func resolved(_ raw: ArraySlice<Character>) -> String {
    var text = ""
    var left = raw
    while let next = left.popFirst() {
      let name = next == "&" ? left.prefix { $0 != ";" && $0 != "&" && $0 != " " } : []
      if next == "&", left.dropFirst(name.count).first == ";", let sign = sign(String(name)) {
        text.append(sign)
        left = left.dropFirst(name.count + 1)
      } else {
        text.append(next)
      }
    }
    return text
  }

  private static func sign(_ name: String) -> Character? {
    guard name.hasPrefix("#") else { return entities[name] }
    let digits = name.dropFirst()
    let code = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return code.flatMap(Unicode.Scalar.init).map(Character.init)
  }

  private static func escaped(_ text: String) -> String {
    text.map { sign in
      switch sign {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\u{A0}": "&nbsp;"
      default: String(sign)
      }
    }.joined()
  }

  /// Reads the tag at the start of `rest`; nil if there is none. A comment is returned as a tag without a
  /// name.
  private static func tag(_ rest: inout ArraySlice<Character>) -> Tag? {
    var left = rest.dropFirst()
    var tag = Tag()
    if left.first == "!" || left.first == "?" {
      rest = left.drop { $0 != ">" }.dropFirst()
      return tag
    }
    if left.first == "/" {
      tag.isEnd = true
      left = left.dropFirst()
    }
    guard left.first.map({ $0.isASCII && $0.isLetter }) ?? false else { return nil }
    let name = left.prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }
    tag.name = String(name).lowercased()
    left = left.dropFirst(name.count)
    while let attribute = attribute(&left) {
      if keptAttributes.contains(attribute.name) { tag.attributes.append(attribute) }
    }
    rest = left.dropFirst()
    return tag
  }

  private static func attribute(_ left: inout ArraySlice<Character>) -> (name: String, value: String)? {
    left = left.drop { $0.isWhitespace || $0 == "/" }
    guard let first = left.first, first != ">" else { return nil }
    let name = left.prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" && $0 != "=" }
    left = left.dropFirst(max(1, name.count))
    guard left.first == "=" else { return (String(name).lowercased(), "") }
    left = left.dropFirst()
    let quote = left.first.flatMap { $0 == "\"" || $0 == "'" ? $0 : nil }
    if quote != nil { left = left.dropFirst() }
    let value = left.prefix { sign in quote.map { sign != $0 } ?? (!sign.isWhitespace && sign != ">") }
    left = left.dropFirst(value.count + (quote == nil ? 0 : 1))
    return (String(name).lowercased(), String(value))
  }

  private static func skip(past name: String, _ rest: inout ArraySlice<Character>) {
    while !rest.isEmpty {
      rest = rest.drop { $0 != "<" }
      var left = rest
      if let tag = tag(&left), tag.isEnd, tag.name == name {
        rest = left
        return
      }
      rest = rest.dropFirst()
    }
  }
}
