import TrellisModel
import TrellisStorage

/// Reads one element of the input into records, in one pass over its bytes.
struct ElementParser {
  private let map: JSONMap
  private var scanner: JSONScanner
  /// The offset in the input of the first byte.
  private let base: Int
  /// All records of the element, outer ones before inner ones.
  private(set) var records: [ImportRecord] = []

  /// Whether a nested object was replaced by another one, because a key comes twice.
  private var hasForgotten = false
  /// The key among the values of an object whose keys are data, of which the present value is one or lies in one.
  private var entryKey: String?

  init(_ bytes: UnsafeBufferPointer<UInt8>, base: Int, _ map: JSONMap) {
    self.map = map
    self.base = base
    scanner = JSONScanner(bytes)
  }

  private var place: Int { base + scanner.offset }

  /// Reads the element as an object of an entity.
  ///
  /// - Throws: ``DocumentFault`` for a text that is no JSON, with an offset within the bytes.
  mutating func read(as entity: EntityMap) throws(DocumentFault) -> ImportRecord? {
    try JSONScanner.checkEncoding(scanner.bytes)
    scanner.skipSpace()
    let record = try object(entity, nil, nil, key: nil, depth: 0)
    scanner.skipSpace()
    if scanner.next != nil { throw scanner.expected("the end") }
    if hasForgotten {
      records = []
      record?.appendAll(to: &records)
      records.sort { $0.start < $1.start }
    }
    for record in records where !record.map.enclosingFields.isEmpty { try readEnclosing(record) }
    return record
  }

  // MARK: Objects

  /// Reads an object, or the scalar that stands for one.
  ///
  /// - Returns: the record; nil for a value that is passed over.
  private mutating func object(
    _ general: EntityMap, _ parent: ImportRecord?, _ link: LinkMap?, key: String?, depth: Int
  ) throws(DocumentFault) -> ImportRecord? {
    let start = scanner.offset
    let isObject = scanner.next == UInt8(ascii: "{")
    if isObject && general.isScalar && parent != nil {
      try scanner.skipValue(depth: depth)
      return nil
    }
    var entity = general
    var problem: ImportProblem?
    if let path = general.entityPath, isObject {
      // Without the text only properties that all the entities have are read.
      if let text = try scalarText(at: path, depth: depth) {
        if let number = general.entitiesByValue[text], let found = map.entities[number] {
          entity = found
        } else {
          problem = ImportProblem(
            .wrongEntity, at: base + start,
            "'\(path.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "."))' must be one of \(general.entitiesByValue.keys.sorted().listed)"
          )
        }
      }
    }
    let record = ImportRecord(entity, at: base + start, in: parent, link)
    records.append(record)
    let outerKey = entryKey
    entryKey = nil
    defer { entryKey = outerKey }
    if let problem { record.note(problem) }
    if let number = entity.keyField, let key { setKey(key, number, record) }
    if let number = entity.valueField, !isObject {
      try field(number, record, depth)
    } else if isObject {
      if entity.root.isLeaf { try scanner.skipValue(depth: depth) } else { try walk(entity.root, record, depth) }
    } else {
      record.note(ImportProblem(.badValue, at: base + start, "must be an object"))
      try scanner.skipValue(depth: depth)
    }
    record.finish()
    return record
  }

  private struct EnclosingPlace: Hashable {
    let object: Int
    let steps: ArraySlice<JSONPath.Step>
  }

  /// The offsets of values of enclosing objects, which many nested ones ask for; nil for absent ones.
  private var enclosingPlaces: [EnclosingPlace: Int?] = [:]

  /// Reads the values of enclosing objects, once these are read.
  private mutating func readEnclosing(_ record: ImportRecord) throws(DocumentFault) {
    for number in record.map.enclosingFields {
      var outer: ImportRecord? = record
      var steps = record.map.fields[number].path.steps[...]
      while steps.first == .enclosing {
        outer = outer?.parent
        steps = steps.dropFirst()
      }
      guard let outer else {
        record.note(ImportProblem(.badValue, at: record.start, field: number, "has no enclosing object here"))
        continue
      }
      let place = EnclosingPlace(object: outer.start, steps: steps)
      if enclosingPlaces[place] == nil {
        scanner.offset = outer.start - base
        enclosingPlaces[place] = .some(try seek(steps, depth: 0) ? scanner.offset : nil)
      }
      guard let found = enclosingPlaces[place] ?? nil else { continue }
      scanner.offset = found
      try field(number, record, 0)
    }
  }

  /// Moves to the value at a path of keys and positions. Returns false if there is none.
  private mutating func seek(
    _ steps: ArraySlice<JSONPath.Step>, depth: Int
  ) throws(DocumentFault) -> Bool {
    var steps = steps
    while let step = steps.popFirst() {
      var found: Int?
      switch step {
      case .name(let name):
        guard scanner.next == UInt8(ascii: "{"), try scanner.open("{", "}", "an object") else { return false }
        repeat {
          if TextBytes.areEqual(try scanner.key(), name) { found = scanner.offset }
          try scanner.skipValue(depth: depth)
        } while try scanner.goOn("}")
      case .element(let position):
        guard scanner.next == UInt8(ascii: "["), try scanner.open("[", "]", "a list") else { return false }
        var current = 0
        repeat {
          if current == position { found = scanner.offset }
          current += 1
          try scanner.skipValue(depth: depth)
        } while try scanner.goOn("]")
      case .entries, .elements, .matching, .enclosing, .key, .value: return false
      }
      guard let found else { return false }
      scanner.offset = found
    }
    return true
  }

  private func setKey(_ key: String, _ number: Int, _ record: ImportRecord) {
    if let value = record.map.fields[number].value.value(key) {
      record.set(number, value, at: place)
    } else {
      record.note(
        ImportProblem(
          .badValue, at: place, field: number, "must be \(record.map.fields[number].value.expectation)"))
    }
  }

  // MARK: Walking

  private mutating func walk(_ node: PathNode, _ record: ImportRecord, _ depth: Int) throws(DocumentFault) {
    guard depth < JSONScanner.maximumDepth else {
      throw DocumentFault(
        "objects and lists lie in each other more than \(JSONScanner.maximumDepth) levels deep", at: scanner.offset,
        .limit)
    }
    let start = scanner.offset
    for (number, target) in node.targets.enumerated() {
      if number > 0 { scanner.offset = start }
      try take(target, record, depth)
    }
    if node.isLeaf { return }
    scanner.offset = start
    switch scanner.next {
    case UInt8(ascii: "{") where node.isObject: try walkObject(node, record, depth)
    case UInt8(ascii: "[") where node.isList: try walkList(node, record, depth)
    case UInt8(ascii: "n"):
      try scanner.word("null")
      clear(node, record, at: base + start)
    default:
      record.note(
        ImportProblem(
          .badValue, at: base + start, property: firstProperty(of: node, record),
          "lies in \(node.isObject ? "an object" : "a list"), and something else is here"))
      try scanner.skipValue(depth: depth)
    }
  }

  /// - Parameter lastEntries: The offsets of the last value of each key, if the keys are data and one comes twice.
  private mutating func walkObject(
    _ node: PathNode, _ record: ImportRecord, _ depth: Int, _ lastEntries: [[UInt8]: Int]? = nil
  ) throws(DocumentFault) {
    let object = scanner.offset
    let mark = Mark(node.collected, record, at: base + object)
    begin(node, record)
    guard try scanner.open("{", "}", "an object") else { return }
    var entryKeys: Set<[UInt8]> = []
    var hasRepeatedEntries = false
    // The names that were there, by their number.
    var seen: UInt64 = 0
    var seenBeyond: Set<Int> = []
    repeat {
      guard scanner.next == UInt8(ascii: "\"") else { throw scanner.expected("a key in double quotes") }
      let start = scanner.offset
      let (span, hasEscapes) = try scanner.stringSpan()
      let end = scanner.offset
      var number: Int?
      if hasEscapes {
        scanner.offset = start
        var text = try scanner.string()
        number = text.withUTF8 { bytes in node.number(named: Slice(base: bytes, bounds: bytes.indices)) }
        scanner.offset = end
      } else {
        number = node.number(named: scanner.bytes[span])
      }
      let found = number.map { node.names[$0].node }
      if let number, let found {
        let isAgain = number < 64 ? seen & (1 << UInt64(number)) != 0 : !seenBeyond.insert(number).inserted
        if number < 64 { seen |= 1 << UInt64(number) }
        if isAgain { forget(found, record, mark) }
      }
      scanner.skipSpace()
      try scanner.expect(":", "after the key")
      scanner.skipSpace()
      if let entries = node.entries {
        let value = scanner.offset
        scanner.offset = start
        let key = try scanner.string()
        scanner.offset = value
        if !entryKeys.insert(Array(key.utf8)).inserted { hasRepeatedEntries = true }
        if let last = lastEntries?[Array(key.utf8)], last != value {
          try scanner.skipValue(depth: depth + 1)
        } else {
          try walkEntry(entries, key, record, depth + 1)
        }
        if found != nil { scanner.offset = value }
      }
      if let found {
        try walk(found, record, depth + 1)
      } else if node.entries == nil {
        try scanner.skipValue(depth: depth + 1)
      }
    } while try scanner.goOn("}")
    guard hasRepeatedEntries, lastEntries == nil else { return }
    // The last value of a key counts, so the object is read again without those before.
    let end = scanner.offset
    scanner.offset = object
    let last = try lastValues(depth)
    scanner.offset = object
    forget(node, record, mark)
    try walkObject(node, record, depth, last)
    scanner.offset = end
  }

  /// The offsets of the last value of each key of an object.
  private mutating func lastValues(_ depth: Int) throws(DocumentFault) -> [[UInt8]: Int] {
    var last: [[UInt8]: Int] = [:]
    guard try scanner.open("{", "}", "an object") else { return last }
    repeat {
      let key = Array(try scanner.key().utf8)
      last[key] = scanner.offset
      try scanner.skipValue(depth: depth + 1)
    } while try scanner.goOn("}")
    return last
  }

  /// Reads a value of an object whose keys are data.
  private mutating func walkEntry(
    _ node: PathNode, _ key: String, _ record: ImportRecord, _ depth: Int
  ) throws(DocumentFault) {
    let start = scanner.offset
    let outerKey = entryKey
    entryKey = key
    defer { entryKey = outerKey }
    var isTaken = false
    for target in node.targets {
      scanner.offset = start
      try take(target, record, depth)
      isTaken = true
    }
    guard !node.isLeaf || !isTaken else { return }
    scanner.offset = start
    // A null among the values is no value.
    if scanner.isAtNull() || node.isLeaf { return try scanner.skipValue(depth: depth) }
    try walk(PathNode.withoutTargets(node), record, depth)
  }

  private mutating func walkList(_ node: PathNode, _ record: ImportRecord, _ depth: Int) throws(DocumentFault) {
    begin(node, record)
    guard try scanner.open("[", "]", "a list") else { return }
    var position = 0
    repeat {
      let start = scanner.offset
      if scanner.isAtNull() {
        // A null in a list is no element.
        try scanner.word("null")
      } else {
        var nodes: [PathNode] = []
        if let elements = node.elements { nodes.append(elements) }
        for (wanted, found) in node.positions where wanted == position { nodes.append(found) }
        for filter in node.filters {
          if let text = try scalarText(at: filter.names, depth: depth + 1),
            let found = filter.nodes.first(where: { TextBytes.areEqual($0.text, text) })
          {
            nodes.append(found.node)
          }
          scanner.offset = start
        }
        if nodes.isEmpty {
          try scanner.skipValue(depth: depth + 1)
        } else {
          try walk(node.union(nodes), record, depth + 1)
        }
      }
      position += 1
    } while try scanner.goOn("]")
  }

  private mutating func begin(_ node: PathNode, _ record: ImportRecord) {
    for target in node.collections where record.begin(target, at: place) { hasForgotten = true }
  }

  /// Sets what lies below a null to nil. A null in one element of a list leaves what the others have.
  private mutating func clear(_ node: PathNode, _ record: ImportRecord, at offset: Int) {
    for target in node.collections { clear(target, record, at: offset) }
    for next in node.inner {
      for target in next.targets where !next.collected.contains(target) { clear(target, record, at: offset) }
      clear(next, record, at: offset)
    }
  }

  /// How much a record had of the collected targets of a node before an object of the node was read.
  ///
  /// Only one key of an object leads to a target, so what came since then came by that key.
  private struct Mark {
    let offset: Int
    private let targets: [PathNode.Target]
    /// Most nodes have one target, which needs no list.
    private let first: Int
    private let others: [Int]

    init(_ targets: [PathNode.Target], _ record: ImportRecord, at offset: Int) {
      self.offset = offset
      self.targets = targets
      first = targets.first.map(record.count) ?? 0
      others = targets.count > 1 ? targets.dropFirst().map(record.count) : []
    }

    func count(_ target: PathNode.Target) -> Int? {
      targets.firstIndex(of: target).map { $0 == 0 ? first : others[$0 - 1] }
    }
  }

  /// Forgets what was read at a node and below it, because its key comes again and the last value counts.
  private mutating func forget(_ node: PathNode, _ record: ImportRecord, _ mark: Mark) {
    for target in node.collected {
      if let count = mark.count(target), record.forget(target, from: count, at: mark.offset) { hasForgotten = true }
    }
    forget(node, record, except: node.collected)
  }

  private mutating func forget(_ node: PathNode, _ record: ImportRecord, except kept: [PathNode.Target]) {
    for target in node.targets where !kept.contains(target) && record.forget(target) { hasForgotten = true }
    for next in node.children { forget(next, record, except: kept) }
  }

  private mutating func clear(_ target: PathNode.Target, _ record: ImportRecord, at offset: Int) {
    switch target {
    case .field(let number): setNull(number, record, at: offset)
    case .item(let number):
      let field = record.map.fields[number]
      if field.keepsOnNull { return }
      if field.attribute.isOptional { record.setNull(number, at: offset) } else { record.begin(target, at: offset) }
    case .link(let number):
      if !record.map.links[number].keepsOnNull, record.begin(target, at: offset) { hasForgotten = true }
    }
  }

  private func firstProperty(of node: PathNode, _ record: ImportRecord) -> String? {
    var nodes = [node]
    while let next = nodes.popLast() {
      for target in next.targets {
        switch target {
        case .field(let number), .item(let number): return record.map.fields[number].attribute.name
        case .link(let number): return record.map.links[number].relationship.name
        }
      }
      nodes += next.names.map(\.node) + [next.entries, next.elements].compactMap(\.self)
      nodes += next.positions.map(\.node) + next.filters.flatMap { $0.nodes.map(\.node) }
    }
    return nil
  }

  // MARK: Values

  private mutating func take(
    _ target: PathNode.Target, _ record: ImportRecord, _ depth: Int
  ) throws(DocumentFault) {
    switch target {
    case .field(let number): try field(number, record, depth)
    case .item(let number): try item(number, record, depth)
    case .link(let number): try partner(number, record, depth, key: entryKey)
    }
  }

  private func setNull(_ number: Int, _ record: ImportRecord, at offset: Int) {
    let field = record.map.fields[number]
    if field.keepsOnNull { return }
    record.forgetProblems(of: number)
    if field.attribute.isOptional {
      record.set(number, .null, at: offset)
    } else {
      record.note(
        ImportProblem(.badValue, at: offset, field: number, "must be \(field.value.expectation), and not null"))
    }
  }

  private mutating func field(_ number: Int, _ record: ImportRecord, _ depth: Int) throws(DocumentFault) {
    let start = scanner.offset
    let field = record.map.fields[number]
    if scanner.isAtNull() {
      try scanner.word("null")
      return setNull(number, record, at: base + start)
    }
    record.forgetProblems(of: number)
    if let value = try field.value.read(&scanner) {
      if value.isNull { return setNull(number, record, at: base + start) }
      record.set(number, value, at: base + start)
    } else {
      try refuse(field.value, number, record, from: start, depth)
    }
  }

  private mutating func item(_ number: Int, _ record: ImportRecord, _ depth: Int) throws(DocumentFault) {
    let start = scanner.offset
    if scanner.isAtNull() { return try scanner.word("null") }
    let map = record.map.fields[number].value
    if let value = try map.read(&scanner) {
      if !value.isNull { record.append(value, to: number) }
    } else {
      try refuse(map, number, record, from: start, depth)
    }
  }

  private mutating func refuse(
    _ map: ValueMap, _ number: Int, _ record: ImportRecord, from start: Int, _ depth: Int
  ) throws(DocumentFault) {
    scanner.offset = start
    try scanner.skipValue(depth: depth)
    record.note(ImportProblem(.badValue, at: base + start, field: number, "must be \(map.expectation)"))
  }

  private mutating func partner(
    _ number: Int, _ record: ImportRecord, _ depth: Int, key: String?
  ) throws(DocumentFault) {
    let start = scanner.offset
    let link = record.map.links[number]
    if scanner.isAtNull() {
      try scanner.word("null")
      return setNull(link, number, record, at: base + start)
    }
    let isText = scanner.next == UInt8(ascii: "\"")
    if isText, let reference = link.reference, reference.emptyIsNull {
      if try reference.read(&scanner)?.isNull == true { return setNull(link, number, record, at: base + start) }
      scanner.offset = start
    }
    if !link.relationship.isToMany, record.begin(.link(number), at: base + start) { hasForgotten = true }
    let isObject = scanner.next == UInt8(ascii: "{")
    let entity = map.entities[link.relationship.destination]
    if !isObject, let reference = link.reference, entity?.valueField == nil || link.isReference {
      if let value = try reference.read(&scanner) {
        record.append(.reference(value, offset: base + start), to: number)
      } else {
        try refusePartner(link, number, record, "must be \(reference.expectation)", from: start, depth)
      }
    } else if !link.isReference, let entity {
      if let inner = try object(entity, record, link, key: key, depth: depth + 1) {
        record.append(.record(inner), to: number)
      }
    } else {
      try refusePartner(link, number, record, "must be the key of an object", from: start, depth)
    }
  }

  private mutating func setNull(_ link: LinkMap, _ number: Int, _ record: ImportRecord, at offset: Int) {
    if !link.relationship.isToMany, !link.keepsOnNull, record.begin(.link(number), at: offset) { hasForgotten = true }
  }

  private mutating func refusePartner(
    _ link: LinkMap, _ number: Int, _ record: ImportRecord, _ message: String, from start: Int, _ depth: Int
  ) throws(DocumentFault) {
    scanner.offset = start
    try scanner.skipValue(depth: depth)
    record.append(.unreadable, to: number)
    record.note(
      ImportProblem(.badValue, at: base + start, property: link.relationship.name, message))
  }

  // MARK: Looking ahead

  /// The text of a scalar at a path of keys from here; nil if there is none. The scanner stays.
  private mutating func scalarText(at names: [[UInt8]], depth: Int) throws(DocumentFault) -> String? {
    let start = scanner.offset
    defer { scanner.offset = start }
    var found: String?
    try find(names[...], depth, &found)
    return found
  }

  private mutating func find(
    _ names: ArraySlice<[UInt8]>, _ depth: Int, _ found: inout String?
  ) throws(DocumentFault) {
    guard let name = names.first else {
      found = try scanner.scalarText()
      return
    }
    guard scanner.next == UInt8(ascii: "{"), depth < JSONScanner.maximumDepth, try scanner.open("{", "}", "an object")
    else {
      return
    }
    repeat {
      if try scanner.key(is: name) {
        let start = scanner.offset
        found = nil
        try find(names.dropFirst(), depth + 1, &found)
        scanner.offset = start
      }
      try scanner.skipValue(depth: depth + 1)
    } while try scanner.goOn("}")
  }
}

extension JSONScanner {
  /// Whether bytes are those of a text in UTF-8.
  @inline(__always) func isText(_ span: Range<Int>, _ text: [UInt8]) -> Bool {
    guard span.count == text.count else { return false }
    for place in 0..<text.count where bytes[span.lowerBound + place] != text[place] { return false }
    return true
  }

  /// Reads a key and the colon after it.
  ///
  /// - Returns: whether the key is a name, in UTF-8.
  mutating func key(is name: [UInt8]) throws(DocumentFault) -> Bool {
    guard next == UInt8(ascii: "\"") else { throw expected("a key in double quotes") }
    let start = offset
    let (span, hasEscapes) = try stringSpan()
    var isName = false
    if hasEscapes {
      let end = offset
      offset = start
      isName = try string().utf8.elementsEqual(name)
      offset = end
    } else {
      isName = isText(span, name)
    }
    skipSpace()
    try expect(":", "after the key")
    skipSpace()
    return isName
  }
}

extension [String] {
  /// `'a', 'b' or 'c'`
  fileprivate var listed: String {
    let quoted = prefix(12).map { "'\($0)'" }
    guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "nothing" }
    return quoted.dropLast().joined(separator: ", ") + " or " + last + (count > 12 ? " …" : "")
  }
}
