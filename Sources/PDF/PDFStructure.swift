// SPDX-License-Identifier: Apache-2.0

/// The role of a structure element, which screen readers announce.
package enum PDFRole: Hashable, Sendable {
  case heading(Int)
  case paragraph, table, row, cell
  /// A cell that names its column.
  case columnHead
  /// A cell that names its row.
  case rowHead
  /// A picture, with the sentence that replaces it and its box in points from the left and the top of the
  /// page.
  case figure(String, x: Double, y: Double, width: Double, height: Double)

  /// The name of the standard structure type in PDF.
  var name: String {
    switch self {
    case .heading(let level): "H\(level)"
    case .paragraph: "P"
    case .table: "Table"
    case .row: "TR"
    case .cell: "TD"
    case .columnHead, .rowHead: "TH"
    case .figure: "Figure"
    }
  }

  /// Whether text and lines can belong directly to the element. A table and a row have only other elements.
  var holdsContent: Bool { self != .table && self != .row }
}

/// The structure tree of a document: which content of the pages belongs to which element.
struct PDFStructure {
  enum Kid {
    case element(Int)
    /// Marked content, by the index of its page and its number (MCID) on that page.
    case content(page: Int, number: Int)
  }

  struct Element {
    let role: PDFRole?
    let parent: Int
    var page: Int?
    /// The height of the element's first page in points.
    var pageHeight = 0.0
    var kids: [Kid] = []
  }

  /// The elements in the order in which they began. The first one is the document.
  private(set) var elements = [Element(role: nil, parent: 0)]
  /// The indexes of the open elements, the innermost last.
  private var open = [0]
  /// For each page, the element of each piece of marked content, by its number.
  private(set) var contents: [[Int]] = []

  /// The innermost open element if it holds content; nil for decoration.
  var current: Int? {
    guard let last = open.last, let role = elements[last].role, role.holdsContent else { return nil }
    return last
  }

  mutating func addPage() { contents.append([]) }

  mutating func begin(_ role: PDFRole) {
    let parent = open.last ?? 0
    elements.append(Element(role: role, parent: parent))
    elements[parent].kids.append(.element(elements.count - 1))
    open.append(elements.count - 1)
  }

  mutating func end() { if open.count > 1 { open.removeLast() } }

  /// Adds a piece of marked content of an element to the last page, and returns its number on that page.
  mutating func addContent(to element: Int, pageHeight: Double) -> Int {
    let page = contents.count - 1
    let number = contents[page].count
    contents[page].append(element)
    if elements[element].page == nil {
      (elements[element].page, elements[element].pageHeight) = (page, pageHeight)
    }
    elements[element].kids.append(.content(page: page, number: number))
    return number
  }

  /// Writes the structure tree. It includes the table by which a viewer finds the element of each marked
  /// content.
  ///
  /// - Parameter pages: the numbers of the pages' objects.
  /// - Returns: the number of the tree's object.
  func write(to objects: inout PDFObjects, pages: [Int]) -> Int {
    let root = objects.reserve()
    let numbers = elements.map { _ in objects.reserve() }
    for (index, element) in elements.enumerated() {
      let parent = index == 0 ? root : numbers[element.parent]
      let kids = element.kids.map { kid in
        switch kid {
        case .element(let index): "\(numbers[index]) 0 R"
        case .content(let page, let number) where page == element.page: "\(number)"
        case .content(let page, let number): "<</Type/MCR/Pg \(pages[page]) 0 R/MCID \(number)>>"
        }
      }
      let page = element.page.map { "/Pg \(pages[$0]) 0 R" } ?? ""
      objects.write(
        numbers[index],
        "<</Type/StructElem/S/\(element.role?.name ?? "Document")/P \(parent) 0 R\(page)\(Self.attributes(element))/K[\(kids.joined(separator: " "))]>>"
      )
    }
    let lists = contents.enumerated().map { page, owners in
      "\(page)[\(owners.map { "\(numbers[$0]) 0 R" }.joined(separator: " "))]"
    }
    let tree = objects.reserve()
    objects.write(tree, "<</Nums[\(lists.joined())]>>")
    objects.write(
      root,
      "<</Type/StructTreeRoot/K \(numbers[0]) 0 R/ParentTree \(tree) 0 R/ParentTreeNextKey \(contents.count)>>"
    )
    return root
  }

  private static func attributes(_ element: Element) -> String {
    switch element.role {
    case .columnHead: return "/A<</O/Table/Scope/Column>>"
    case .rowHead: return "/A<</O/Table/Scope/Row>>"
    case .figure(let text, let x, let y, let width, let height):
      let floor = element.pageHeight - y
      let box = [x, floor - height, x + width, floor].map(PDFObjects.number).joined(separator: " ")
      return "/Alt\(PDFObjects.text(text))/A<</O/Layout/Placement/Block/BBox[\(box)]>>"
    default: return ""
    }
  }
}
