package import TrellisModel

/// The box of an entity or an enum, with nothing of its place.
package struct Card: Sendable {
  package enum Kind: Hashable, Sendable {
    /// The number is that of the entity in the model.
    case entity(Int, isAbstract: Bool)
    case enumeration
  }

  /// One line of text in the box.
  package struct Row: Sendable {
    package enum Kind: Hashable, Sendable {
      case attribute(isUnique: Bool, isTransient: Bool, isEnum: Bool)
      case relationship(DeleteRule, isTransient: Bool)
      /// The end of a relationship that this entity has no property for.
      case arrival
      /// A key of several properties.
      case key
      case enumCase
    }

    package let kind: Kind
    package let name: String
    /// The text at the right end of the row: a type or a destination.
    package let detail: String
    /// From the top of the box.
    package let top: Int
    package let height: Int
  }

  package let kind: Kind
  package let title: String
  /// What a pointer over the title shows.
  package let note: String?
  package let rows: [Row]
  /// The places of lines between groups of rows, from the top of the box.
  package let dividers: [Int]
  package let width: Int
  package let height: Int
}

/// The measures of boxes. Everything that a line can start from lies on a grid of ``grid`` pixels.
package enum Measure {
  package static let grid = 10
  static let title = 40
  static let row = 20
  static let padding = 14
  static let minimumWidth = 130
  /// Names of models may have 255 letters.
  static let maximumText = 260

  static let titleSize = 14
  static let textSize = 12
  static let detailSize = 11
  static let smallSize = 10
  /// The room for the drawn key behind a name.
  static let keyMark = 18
}

/// Lays out the rows of a box one below the other.
struct CardBuilder {
  private var rows: [Card.Row] = []
  private var dividers: [Int] = []
  private var top = Measure.title
  private var width: Int
  private let title: String

  init(title: String) {
    self.title = TextWidth.fitted(title, size: Measure.titleSize, bold: true, within: Measure.maximumText)
    width = max(
      Measure.minimumWidth, TextWidth.of(self.title, size: Measure.titleSize, bold: true) + 2 * Measure.padding + 10)
  }

  /// - Returns: the number of the row.
  @discardableResult
  mutating func add(_ kind: Card.Row.Kind, _ name: String, detail: String = "", height: Int = Measure.row) -> Int {
    let name = TextWidth.fitted(name, size: Measure.textSize, within: Measure.maximumText)
    let detail = TextWidth.fitted(detail, size: Measure.detailSize, within: Measure.maximumText)
    var needed = 2 * Measure.padding + TextWidth.of(name, size: Measure.textSize)
    if !detail.isEmpty { needed += 20 + TextWidth.of(detail, size: Measure.detailSize) }
    needed += kind.markWidth
    width = max(width, needed)
    rows.append(Card.Row(kind: kind, name: name, detail: detail, top: top, height: height))
    top += height
    return rows.count - 1
  }

  /// Separates the next rows from those before.
  mutating func divide() {
    guard !rows.isEmpty else { return }
    dividers.append(top + 5)
    top += 10
  }

  func card(_ kind: Card.Kind, note: String?) -> Card {
    Card(
      kind: kind, title: title, note: note, rows: rows, dividers: dividers, width: width,
      height: rows.isEmpty ? Measure.title : top + 10)
  }
}

extension Card.Row.Kind {
  /// The room for what is drawn behind the name.
  var markWidth: Int {
    switch self {
    case .attribute(let isUnique, _, _): isUnique ? Measure.keyMark : 0
    case .relationship(let rule, _): rule.mark.map { TextWidth.of($0, size: Measure.smallSize) + 18 } ?? 0
    case .key: Measure.keyMark
    case .arrival, .enumCase: 0
    }
  }
}

extension DeleteRule {
  /// The word that marks the rule in pictures and tables; nil for what happens without any.
  package var mark: String? {
    switch self {
    case .nullify: nil
    case .cascade: "cascade"
    case .deny: "deny"
    case .noAction: "no action"
    }
  }
}
