import TrellisSchema

/// What texts are compared with by `like` and `matches`: one for the evaluation in memory and for every store.
public struct TextPattern: Sendable {
  private let pattern: Pattern?

  /// A pattern for texts that ``Comparison/folding`` has prepared. A text that is no pattern matches nothing.
  public init(_ text: String, ignoringCase: Bool) {
    pattern = try? Pattern(text, ignoringCase: ignoringCase)
  }

  /// Whether the whole text matches. A match that would take more than ``Pattern/stepLimit`` steps is none.
  public func matches(_ text: String) -> Bool { pattern?.match(text) == .matches }

  /// Whether the whole text looks like the other, in which `*` and `?` stand for scalars and `\` quotes.
  ///
  /// - Complexity: linear in the text for each `*`.
  public static func isLike(_ text: String, _ mask: String) -> Bool {
    let text = Array(text.unicodeScalars)
    let mask = LikeMask(mask)
    var (place, step) = (0, 0)
    var retry: (place: Int, step: Int)?
    while place < text.count {
      if step < mask.steps.count, mask.steps[step].fits(text[place]) {
        (place, step) = (place + 1, step + 1)
      } else if step < mask.steps.count, mask.steps[step] == .anyNumber {
        retry = (place, step + 1)
        step += 1
      } else if let last = retry {
        retry = (last.place + 1, last.step)
        (place, step) = (last.place + 1, last.step)
      } else {
        return false
      }
    }
    return mask.steps[step...].allSatisfy { $0 == .anyNumber }
  }
}

/// The text behind `like`, taken apart.
private struct LikeMask {
  enum Step: Equatable {
    case scalar(Unicode.Scalar)
    case one
    case anyNumber

    func fits(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .scalar(let own): own == scalar
      case .one: true
      case .anyNumber: false
      }
    }
  }

  private(set) var steps: [Step] = []

  init(_ text: String) {
    var rest = text.unicodeScalars.makeIterator()
    while let scalar = rest.next() {
      switch scalar {
      case "*": if steps.last != .anyNumber { steps.append(.anyNumber) }
      case "?": steps.append(.one)
      // A backslash at the very end stands for itself.
      case "\\": steps.append(.scalar(rest.next() ?? scalar))
      default: steps.append(.scalar(scalar))
      }
    }
  }
}
