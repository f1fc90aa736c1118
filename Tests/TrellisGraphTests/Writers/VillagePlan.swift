import TrellisTestSupport

/// What one random run with several contexts is about.
struct VillagePlan {
  let writers: Int
  /// The contexts whose children others are, by number; nil for one that has none above it.
  let parents: [Int?]
  /// The relationships that are touched; the others are empty all the time.
  let touched: [Shape]
  /// The entities of the objects.
  let entities: [String]
  /// About how many objects there are at a time.
  let size: Int
  /// Whether the contexts hold all objects that they have met; if not, they may drop them.
  let holdsObjects: Bool
  /// Whether steps are undone now and then.
  let undoes: Bool
  /// Whether objects get unique keys.
  let hasKeys: Bool
  /// Whether all that is shown is observed.
  let observes: Bool
  /// One in how many looks at everything, which also loads everything.
  let interval: UInt64

  /// Whether deletes may take objects along.
  var cascades: Bool { touched.contains { $0.rule == .cascade } }

  init(_ random: inout SeededGenerator, _ shapes: Shapes) {
    let count = 2 + Int(random.next() % 2)
    writers = count
    let hasChild = random.below(4) == 0
    parents = (0..<count).map { $0 == count - 1 && hasChild ? Int(random.next() % UInt64($0)) : nil }
    let relationships = [1, 1, 2, 3, 5][random.below(5)]
    var chosen: Set<Int> = []
    for _ in 0..<relationships {
      let shape = shapes.all[random.below(shapes.all.count)]
      chosen.formUnion([shape.index, shape.inverse ?? shape.index])
    }
    // What is required, or counted, could not be saved otherwise.
    let names = Set(chosen.flatMap { [shapes.all[$0].entity, shapes.all[$0].destination] })
    for shape in shapes.all where names.contains(shape.entity) && shape.isRequired {
      chosen.formUnion([shape.index, shape.inverse ?? shape.index])
    }
    touched = chosen.sorted().map { shapes.all[$0] }
    var entities = Set(touched.flatMap { [$0.entity, $0.destination] })
    if entities.contains("Villager") { entities.insert("Chief") }
    self.entities = entities.sorted()
    size = [3, 5, 8][random.below(3)]
    holdsObjects = random.below(2) == 0
    undoes = random.below(4) == 0
    hasKeys = random.below(4) == 0
    observes = random.below(4) == 0
    interval = [1, 1, 3, 8][random.below(4)]
  }

  /// Couples of a one-to-one that is its own inverse, in a context and its child, at times beside a third context.
  init(ofCouples random: inout SeededGenerator, _ shapes: Shapes) {
    writers = 2 + random.below(3) / 2
    parents = [nil, 0, nil].prefix(writers).map(\.self)
    touched = shapes.all.filter { $0.entity == "Villager" && $0.name == "spouse" }
    entities = ["Villager"]
    size = 3 + random.below(2)
    holdsObjects = random.below(4) != 0
    undoes = random.below(2) == 0
    hasKeys = false
    observes = false
    interval = [1, 1, 3].randomElement(using: &random) ?? 1
  }

  /// One relationship among few objects.
  init(_ meeting: Meeting, _ kinship: Kinship, observes: Bool) {
    writers = 3
    parents = kinship.parents
    touched = [meeting.shape] + (meeting.inverse.map { $0.index == meeting.shape.index ? [] : [$0] } ?? [])
    entities = []
    size = 0
    holdsObjects = true
    undoes = false
    hasKeys = false
    self.observes = observes
    interval = 1
  }
}

extension VillagePlan: CustomStringConvertible {
  /// What a report has to say beside the acts, in lines.
  var description: String {
    let children = parents.enumerated().compactMap { child, parent in
      parent.map { "\(Act.name(of: child)) is a child of \(Act.name(of: $0))\n" }
    }
    let undo = undoes ? "steps are recorded\n" : ""
    return children.joined() + undo + (holdsObjects ? "" : "objects are not held\n")
  }
}
