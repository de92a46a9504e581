// SPDX-License-Identifier: Apache-2.0

/// The content of a page, section by section. The names of the properties are those of the template.
package struct PageModel: Sendable {
  /// The kind of cells of a table, by its name in the style.
  package enum Cells: String, Sendable, CustomStringConvertible {
    case numbers, text, dates

    /// The name of the class.
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

  /// A paragraph, a picture or a table.
  package struct Part: Sendable {
    var paragraph: Markup?
    var subtitle: Markup?
    var picture: Markup?
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
    /// Whether it begins a new printed page.
    var startsPage = false
  }

  /// Links to other pages, with a name for the whole list.
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
  /// The title.
  package let title: Markup
  /// The statement that the page is no medical device.
  package let notice: Markup
  /// Labels and their values, such as the period.
  package let facts: [Row]
  /// Links to other pages; nil for none.
  package let navigation: Navigation?
  /// The sections in their order.
  package let sections: [Section]
}
