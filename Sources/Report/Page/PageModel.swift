// SPDX-License-Identifier: Apache-2.0

/// The content of a page, section by section. The template refers to the properties by their names.
package struct PageModel: Sendable {
  /// The kind of cells of a table, by its name in the style.
  package enum Cells: String, Sendable, CustomStringConvertible {
    case numbers, text, dates

    /// The name of the class in the style sheet.
    package var description: String { rawValue }
  }

  /// A table with a title, a head row, and a head cell in each row.
  package struct Table: Sendable {
    let caption: Markup
    let columns: [Markup]
    let rows: [Row]
    let kind: Cells
  }

  /// A row of a table.
  package struct Row: Sendable {
    let head: Markup
    let cells: [Markup]

    init(_ head: String, _ cells: [String]) {
      self.head = Markup(head)
      self.cells = cells.map { Markup($0) }
    }
  }

  /// A picture as SVG, and the text for screen readers.
  package struct Picture: Sendable {
    let drawing: Drawing
    let svg: Markup
    let reading: Markup
    /// The name of the picture.
    let title: Markup
    /// The picture's classes in the style sheet. They state its width, whether it is text or a table, and
    /// whether a phone shows `narrow` instead.
    let kind: String
    /// The picture that a phone shows instead; nil if a phone shows this picture.
    let narrow: PhonePicture?
    /// Whether the picture scrolls on a phone.
    let scrolls: Bool
    let isText: Bool

    /// A picture that is as wide as a phone.
    package struct PhonePicture: Sendable {
      let svg: Markup
      let reading: Markup
    }

    init(_ drawing: Drawing, title: String) { self.init(Sheet.Box(drawing: drawing), title: title) }

    init(_ box: Sheet.Box, title: String) {
      drawing = box.drawing
      svg = Markup(made: drawing.svg)
      reading = Markup(made: drawing.reading)
      self.title = Markup(title)
      (scrolls, isText) = (!box.isText && drawing.width >= 300, box.isText)
      narrow = box.narrow.map { PhonePicture(svg: Markup(made: $0.svg), reading: Markup(made: $0.reading)) }
      let width = box.isText ? "words" : box.isWide ? "wide" : "p\(box.percent)"
      kind = width + (box.isTable ? " grid" : "") + (narrow == nil ? "" : " broad")
    }
  }

  /// A paragraph, a picture or a table.
  package struct Part: Sendable {
    var paragraph: Markup?
    var subtitle: Markup?
    var picture: Picture?
    var table: Table?

    static func text(_ text: String) -> Part { Part(paragraph: Markup(text)) }

    static func table(
      _ caption: String, _ columns: [String], _ rows: [Row], of cells: Cells = .numbers
    ) -> Part {
      let columns = columns.map { Markup($0) }
      return Part(table: Table(caption: Markup(caption), columns: columns, rows: rows, kind: cells))
    }
  }

  /// Parts that stay on one printed page if possible.
  package struct Block: Sendable {
    let parts: [Part]
  }

  /// A part of the page with a title.
  package struct Section: Sendable {
    let anchor: String
    let heading: Markup
    let blocks: [Block]
    /// Whether the section begins a new printed page.
    var startsPage = false
  }

  /// One printed page with boxes. A phone shows the boxes one below the other.
  package struct SheetView: Sendable {
    let anchor: String
    let boxes: [Picture]
    /// Whether the sheet is the first one of the page.
    let isFirst: Bool
  }

  /// Links to other pages, with a name for them all.
  package struct Navigation: Sendable {
    let label: Markup
    let links: [Link]
  }

  /// A link to another page.
  package struct Link: Sendable {
    let text: Markup
    let target: Markup
    let isCurrent: Bool
  }

  /// The language of the page.
  package let language: String
  /// The title of the window.
  package let title: Markup
  /// The title above the sections; nil if a sheet has the title.
  package let heading: Markup?
  /// The statement that the report is not a medical device; nil if a sheet has it.
  package let notice: Markup?
  /// The sheets in their order.
  package let sheets: [SheetView]
  /// Rows of a label and its value, such as the period.
  package let facts: [Row]
  /// Links to other pages; nil for none.
  package let navigation: Navigation?
  /// The sections in their order.
  package let sections: [Section]
}
