import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// One import: takes the bytes of the input as they come, and saves what is whole in batches.
///
/// ```
/// bytes → ImportWindow → ElementCutter → ElementParser → records
///                                                          │ a batch of them
///                                              ImportTable finds their objects
///                                              ImportBatch sets values and partners
///                                                          │
///                                                        save
/// ```
final class JSONImporter {
  /// A batch ends after so many elements, or bytes of elements.
  private static let elementsOfBatch = 1_000
  private static let bytesOfBatch = 4 << 20
  private static let elementsOfWhole = 50_000

  private let context: ManagedObjectContext
  private let map: JSONMap
  private let entity: EntityMap
  private let policy: MergePolicy
  private let rejection: JSONRejection
  private let writer: ObjectWriter
  private let progress: ((JSONImportProgress) -> Void)?
  private let totalBytes: Int?
  private let isLines: Bool

  private var window: ImportWindow
  private var cutter: ElementCutter
  private var isAtStart = true
  private var isBroken = false
  /// Whether the last element was no JSON, so that what follows it need not be told.
  private var isLastBroken = false
  private var elements = 0
  /// The elements of the batch, in the window, with their first records.
  private var batch: [(element: ElementCutter.Element, records: [ImportRecord])] = []
  /// The records that wait for objects which have not come yet, by their own key.
  private var waiting: [ImportKey: [ImportRecord]] = [:]
  /// The elements of which records wait, or have links to objects that have not come yet. An element holds its records.
  private var open: [ImportRecord] = []
  private let openLinks = OpenLinks()
  /// The places of values that may be needed after their bytes are gone, by offset.
  private var keptPlaces: [Int: JSONPlace] = [:]
  /// The records of objects that are not saved yet, by the keys of the objects.
  private var unsaved: [Int64: ImportRecord] = [:]
  private var report = JSONImportReport()

  init(
    _ entity: Int, into context: ManagedObjectContext, at path: String?, _ layout: JSONLayout, _ policy: MergePolicy,
    _ rejection: JSONRejection, file: String?, totalBytes: Int?, _ progress: ((JSONImportProgress) -> Void)?
  ) throws {
    self.context = context
    self.policy = policy
    self.rejection = rejection
    self.progress = progress
    self.totalBytes = totalBytes
    isLines = layout == .lines
    do throws(JSONMappingFault) {
      map = try JSONMap(context.model)
      self.entity = try map.map(of: entity)
    } catch {
      throw JSONImportError(message: error.message, failures: [])
    }
    writer = ObjectWriter(context)
    window = ImportWindow(file: file)
    cutter = ElementCutter(try Self.path(path, layout))
    if context.hasChanges {
      throw JSONImportError(
        message:
          "The context has unsaved changes, which an import would save along with its own: save them, or import in another context.",
        failures: [])
    }
  }

  private static func path(_ text: String?, _ layout: JSONLayout) throws -> ElementCutter.Path {
    if layout == .lines {
      if text == nil { return .lines }
      throw JSONImportError(message: "The elements of lines are the lines: leave out the path.", failures: [])
    }
    guard let text else { return .root }
    do throws(JSONPathFault) {
      let path = try JSONPath(text)
      for step in path.steps {
        switch step {
        case .name, .elements, .element: break
        case .entries, .matching, .enclosing, .key, .value:
          throw JSONPathFault(message: "the path to the elements has keys, '[*]' and positions only")
        }
      }
      return .steps(path.steps)
    } catch {
      throw JSONImportError(message: "The path '\(text)' leads to no elements: \(error.message).", failures: [])
    }
  }

  // MARK: Bytes

  /// Takes the next bytes of the input.
  func feed(_ bytes: some Sequence<UInt8>) throws {
    if isBroken { return }
    window.append(bytes)
    try cut(isWhole: false)
  }

  /// Imports the rest.
  func finish() throws -> JSONImportReport {
    if !isBroken { try cut(isWhole: true) }
    try saveBatch(isLast: false)
    try settleWaiting()
    if rejection == .everything { try saveEverything() }
    tellProgress()
    return report
  }

  private func cut(isWhole: Bool) throws {
    guard skipMark(isWhole: isWhole) else { return }
    while true {
      let found: ElementCutter.Element?
      do throws(DocumentFault) {
        found = try next(isWhole: isWhole)
      } catch {
        isBroken = true
        if !isLastBroken { noteSyntax(error, at: window.start + error.offset, in: nil) }
        return
      }
      guard let found else { return }
      parse(found)
      let limit = rejection == .everything ? Self.elementsOfWhole : Self.elementsOfBatch
      if batch.count >= limit || found.range.upperBound >= Self.bytesOfBatch { try saveBatch(isLast: false) }
    }
  }

  private func next(isWhole: Bool) throws(DocumentFault) -> ElementCutter.Element? {
    var cutter = cutter
    defer { self.cutter = cutter }
    // A closure that throws a typed error is not rethrown as one by all functions of the library.
    var fault: DocumentFault?
    let found = window.bytes.withUnsafeBufferPointer { bytes -> ElementCutter.Element? in
      do throws(DocumentFault) {
        return try cutter.next(bytes, isWhole: isWhole)
      } catch {
        fault = error
        return nil
      }
    }
    if let fault { throw fault }
    return found
  }

  /// Skips a byte order mark. Returns false if more bytes are needed to tell.
  private func skipMark(isWhole: Bool) -> Bool {
    guard isAtStart else { return true }
    guard window.bytes.count >= 4 || isWhole else { return false }
    isAtStart = false
    if window.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { window.drop(3) }
    return true
  }

  private func parse(_ element: ElementCutter.Element) {
    let base = window.start + element.range.lowerBound
    var fault: DocumentFault?
    let records = window.bytes[element.range].withUnsafeBufferPointer { bytes -> [ImportRecord] in
      var parser = ElementParser(bytes, base: base, map)
      do throws(DocumentFault) {
        _ = try parser.read(as: entity)
        return parser.records
      } catch {
        fault = error
        return []
      }
    }
    elements += 1
    isLastBroken = fault != nil
    if let fault { noteSyntax(fault, at: base + fault.offset, in: element) }
    batch.append((element, records))
  }

  private func noteSyntax(_ fault: DocumentFault, at offset: Int, in element: ElementCutter.Element?) {
    report.rejected.append(
      JSONImportFailure(
        code: .badSyntax, place: ImportWindow.Lines(window).place(offset, in: element), entity: "", property: nil,
        message: fault.what))
  }

  // MARK: Batches

  private func saveBatch(isLast: Bool) throws {
    let elements = batch
    batch = []
    try run(elements.flatMap(\.records), elements.map(\.element), isLast: isLast)
    let done = cutter.offset
    window.drop(done)
    cutter.drop(done)
    tellProgress()
  }

  private func run(_ records: [ImportRecord], _ elements: [ElementCutter.Element], isLast: Bool) throws {
    if records.isEmpty { return }
    let batch = ImportBatch(records, in: context, map, writer, policy, openLinks, isLast: isLast)
    let finder = PlaceFinder(window, elements)
    // Records and targets refer to each other.
    defer { for record in batch.records { record.target = nil } }
    do {
      try batch.carryOut(pulling: pull)
      note(batch, finder)
      if rejection == .objects { try save(batch, finder) } else { keepPlaces(of: batch, finder) }
    } catch {
      context.rollback()
      throw error
    }
    count(batch)
  }

  /// The records that have waited for a key which comes again, with what is nested in them.
  private func pull(_ key: ImportKey) -> [ImportRecord] {
    var all: [ImportRecord] = []
    for record in waiting.removeValue(forKey: key) ?? [] { record.appendAll(to: &all) }
    return all.filter { $0.doneKey == nil && !$0.isRejected && $0.target == nil }
  }

  /// Notes what a batch has found, with the places of it as long as the bytes are there.
  private func note(_ batch: ImportBatch, _ finder: PlaceFinder) {
    for (record, problem) in batch.failures { report.rejected.append(failure(problem, record, finder)) }
    for (record, problem) in batch.unresolved { report.unresolved.append(failure(problem, record, finder)) }
    var isOpen: Set<ObjectIdentifier> = []
    func keep(_ record: ImportRecord) {
      keepPlace(record.start, finder)
      let root = record.root
      if isOpen.insert(ObjectIdentifier(root)).inserted { open.append(root) }
    }
    for group in batch.waiting {
      for problem in group.problems { keepPlace(problem.offset, finder) }
      for record in group.records {
        keep(record)
        if let key = record.ownKey { waiting[key, default: []].append(record) }
      }
    }
    for record in batch.records where !record.openLinks.isEmpty && record.doneKey == nil {
      keep(record)
      for number in record.openLinks {
        for case .reference(_, let offset)? in record.links[number]?.members ?? [] { keepPlace(offset, finder) }
      }
    }
  }

  private func keepPlace(_ offset: Int, _ finder: PlaceFinder) {
    if keptPlaces[offset] == nil { keptPlaces[offset] = finder.place(offset) }
  }

  private func failure(
    _ problem: ImportProblem, _ record: ImportRecord, _ finder: PlaceFinder
  ) -> JSONImportFailure {
    JSONImportFailure(
      code: problem.code, place: finder.place(problem.offset) ?? keptPlaces[problem.offset] ?? keptPlaces[record.start],
      entity: record.map.entity.name,
      property: problem.field.map { record.map.fields[$0].attribute.name } ?? problem.property,
      message: problem.message)
  }

  // MARK: Saving

  private func save(_ batch: ImportBatch, _ finder: PlaceFinder) throws {
    let discarded = try context.saveValidChanges(mergePolicy: policy)
    if discarded.isEmpty { return }
    let targets = Dictionary(
      batch.table.targets.compactMap { target in target.object.map { (AnyObjectID($0), target) } },
      uniquingKeysWith: { first, _ in first })
    for change in discarded {
      let target = targets[change.object]
      target?.isRefused = true
      for record in target?.records ?? [] { record.isRejected = true }
      report.rejected += change.failures.map { failure($0, target?.records.last, finder) }
    }
  }

  /// A broken rule at the place of the property, if the input has it.
  private func failure(
    _ failure: ValidationFailure, _ record: ImportRecord?, _ finder: PlaceFinder?
  ) -> JSONImportFailure {
    var offset = record?.start
    if let record {
      if let field = record.map.fields.firstIndex(where: { $0.attribute.name == failure.property }),
        record.offsets[field] >= 0
      {
        offset = record.offsets[field]
      } else if let link = record.map.links.firstIndex(where: { $0.relationship.name == failure.property }),
        let given = record.links[link]
      {
        offset = given.offset
      }
    }
    return JSONImportFailure(
      code: .brokenRule,
      place: offset.flatMap { finder?.place($0) ?? keptPlaces[$0] } ?? (record?.start).flatMap { keptPlaces[$0] },
      entity: failure.entity,
      property: failure.property.isEmpty ? nil : failure.property, message: failure.message)
  }

  private func keepPlaces(of batch: ImportBatch, _ finder: PlaceFinder) {
    for target in batch.table.targets {
      guard let object = target.object, let record = target.records.last else { continue }
      unsaved[object._key] = record
      keepPlace(record.start, finder)
    }
  }

  private func saveEverything() throws {
    if !report.rejected.isEmpty { try giveUp(report.rejected) }
    do {
      try context.save(mergePolicy: policy)
    } catch let refusal as ValidationError {
      try giveUp(
        refusal.failures.map { self.failure($0, unsaved[$0.key], nil) })
    } catch {
      context.rollback()
      throw error
    }
  }

  private func giveUp(_ failures: [JSONImportFailure]) throws {
    context.rollback()
    throw JSONImportError(
      message: "\(failures.count) problem\(failures.count == 1 ? "" : "s") in the input, so nothing was imported:",
      failures: failures)
  }

  private func count(_ batch: ImportBatch) {
    for target in batch.table.targets {
      guard let object = target.object, !target.isRefused else { continue }
      let records = target.records.filter { !$0.isRejected && $0.doneKey == nil }
      for record in records { record.doneKey = object._key }
      if records.isEmpty && !target.isChanged { continue }
      let entity = type(of: object)._entity
      if target.isNew {
        report.inserted.append(object, entity)
      } else if target.isChanged {
        report.updated.append(object, entity)
      } else {
        report.unchanged.append(object, entity)
      }
    }
  }

  // MARK: The end

  /// Carries out what has waited for objects that came later, or will not come.
  private func settleWaiting() throws {
    waiting = [:]
    var all: [ImportRecord] = []
    var seen: Set<ObjectIdentifier> = []
    for root in open where seen.insert(ObjectIdentifier(root)).inserted { root.appendAll(to: &all) }
    try run(all, [], isLast: true)
    open = []
  }

  private func tellProgress() {
    progress?(
      JSONImportProgress(bytes: window.start + cutter.offset, totalBytes: totalBytes, elements: elements))
  }
}

/// Finds the places of offsets, from the bytes of a batch.
private final class PlaceFinder {
  private let window: ImportWindow
  private let elements: [ElementCutter.Element]
  private lazy var lines = ImportWindow.Lines(window)

  init(_ window: ImportWindow, _ elements: [ElementCutter.Element]) {
    self.window = window
    self.elements = elements
  }

  /// - Returns: nil for an offset that is in none of the elements.
  func place(_ offset: Int) -> JSONPlace? {
    let position = offset - window.start
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if elements[middle].range.upperBound <= position { low = middle + 1 } else { high = middle }
    }
    guard low < elements.count, elements[low].range.contains(position) else { return nil }
    return lines.place(offset, in: elements[low])
  }
}
