import TrellisJSON
import TrellisModel

/// Reads the rows of a CSV file into records of an import.
final class CSVElementReader: ElementReader {
  private let format: CSVFormat
  private let map: JSONMap
  private let entity: EntityMap
  private(set) var offset = 0
  private(set) var emptyRows = 0
  private var header: [String] = []
  private var columns: ColumnGroup?
  private var scanner: RowScanner
  /// What separates cells, if the first line says so.
  private var declaredSeparator: UInt8?

  init(_ format: CSVFormat, _ map: JSONMap, _ entity: EntityMap) {
    self.format = format
    self.map = map
    self.entity = entity
    scanner = RowScanner(UInt8(ascii: ","), hasBackslashes: format.hasBackslashes)
  }

  /// What the columns are, once the first row is read.
  var plan: ColumnGroup? { columns }

  func drop(_ count: Int) { offset -= count }

  // MARK: Rows

  func next(_ window: UnsafeBufferPointer<UInt8>, isWhole: Bool) throws(DocumentFault) -> ImportElement? {
    if columns == nil {
      guard try readHeader(window, isWhole: isWhole) else { return nil }
    }
    while true {
      skipBlankLines(window)
      guard offset < window.count else { return nil }
      let start = offset
      guard let end = try scanner.scan(window, from: start, isWhole: isWhole) else { return nil }
      offset = end
      // Without a key, such a row is a new object with nothing but defaults.
      if entity.key == nil || !scanner.isEmpty { return ImportElement(range: start..<end, pointer: "") }
      emptyRows += 1
    }
  }

  /// Scans the next row, whose cells are then those of ``row``.
  ///
  /// - Returns: false after the last row.
  func scanNext(_ bytes: UnsafeBufferPointer<UInt8>) throws(DocumentFault) -> Bool {
    guard try next(bytes, isWhole: true) != nil else { return false }
    try checkRow()
    return true
  }

  var row: RowScanner { scanner }

  private func checkRow() throws(DocumentFault) {
    if let fault = scanner.fault { throw fault }
    let count = scanner.cells.count
    guard count == header.count else {
      throw DocumentFault(
        "the row has \(Self.cells(count)), and the first one has \(header.count)",
        at: count > header.count ? scanner.cells[header.count].start : scanner.cells.first?.start ?? 0, .damaged)
    }
  }

  private static func cells(_ count: Int) -> String { count == 1 ? "1 cell" : "\(count) cells" }

  private func skipBlankLines(_ window: UnsafeBufferPointer<UInt8>) {
    while offset < window.count {
      if window[offset] == 0x0A {
        offset += 1
      } else if window[offset] == 0x0D, offset + 1 < window.count, window[offset + 1] == 0x0A {
        offset += 2
      } else {
        return
      }
    }
  }

  // MARK: Header

  /// - Returns: false if more bytes are needed.
  private func readHeader(_ window: UnsafeBufferPointer<UInt8>, isWhole: Bool) throws(DocumentFault) -> Bool {
    if offset == 0, window.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    skipBlankLines(window)
    guard window.count - offset > 6 || isWhole else { return false }
    let start = offset
    if declaredSeparator == nil, window[start...].starts(with: Array("sep=".utf8)), start + 5 < window.count {
      let isEnd = window[start + 5] == 0x0A || window[start + 5] == 0x0D
      if isEnd, window[start + 4] != RowScanner.quote {
        declaredSeparator = window[start + 4]
        offset = start + 5
        return try readHeader(window, isWhole: isWhole)
      }
    }
    let separator = format.separator?.rawValue.utf8.first ?? declaredSeparator ?? Self.separator(window[start...])
    scanner = RowScanner(separator, hasBackslashes: format.hasBackslashes)
    guard let end = try scanner.scan(window, from: start, isWhole: isWhole) else { return false }
    if let fault = scanner.fault { throw fault }
    guard start < window.count else {
      throw DocumentFault(
        "the first line must have the names of the columns, and the file is empty", at: start, .damaged)
    }
    try JSONScanner.checkEncoding(UnsafeBufferPointer(rebasing: window[start..<end]), from: start)
    header = scanner.cells.map { scanner.text($0, window) }
    offset = end
    try planColumns(start)
    return true
  }

  /// The separator that is most frequent in the first line, outside of quotes.
  private static func separator(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> UInt8 {
    var counts: [UInt8: Int] = [:]
    var isQuoted = false
    for byte in bytes {
      if byte == RowScanner.quote { isQuoted.toggle() }
      if byte == 0x0A, !isQuoted { break }
      if !isQuoted { counts[byte, default: 0] += 1 }
    }
    var best = UInt8(ascii: ",")
    for case let byte? in CSVFormat.Separator.allCases.map(\.rawValue.utf8.first)
    where counts[byte, default: 0] > counts[best, default: 0] { best = byte }
    return best
  }

  private func planColumns(_ start: Int) throws(DocumentFault) {
    // A column without a name, as that of the row numbers of pandas, is passed over.
    let named = header.enumerated().filter { !$0.element.isEmpty }.map { (name: $0.element, number: $0.offset) }
    for (place, column) in named.enumerated() where named[..<place].contains(where: { $0.name == column.name }) {
      throw DocumentFault("the column '\(column.name)' comes twice", at: scanner.cells[column.number].start, .damaged)
    }
    let group = ColumnGroup(entity, named, map)
    let unknown = named.filter { !group.known.contains($0.number) }
    if let first = unknown.first, !format.skipsUnknownColumns {
      let names = ColumnNames(of: entity, in: map).names
      let list = unknown.map { column in
        NearestName.closest(to: column.name, among: names).map { "'\(column.name)' (did you mean '\($0)'?)" }
          ?? "'\(column.name)'"
      }
      throw DocumentFault(
        "'\(entity.entity.name)' has no column \(list.joined(separator: ", ")); it has \(names.joined(separator: ", "))",
        at: scanner.cells[first.number].start, .damaged)
    }
    if let missing = group.missingKeyColumn(map) {
      throw DocumentFault("the column '\(missing)' is missing, by which objects are found", at: start, .damaged)
    }
    if group.known.isEmpty {
      throw DocumentFault("no column has the name of one of '\(entity.entity.name)'", at: start, .damaged)
    }
    columns = group
  }

  // MARK: Records

  func records(_ bytes: UnsafeBufferPointer<UInt8>, base: Int) throws(DocumentFault) -> [ImportRecord] {
    guard let columns else { return [] }
    try JSONScanner.checkEncoding(bytes, from: 0)
    _ = try scanner.scan(bytes, from: 0, isWhole: true)
    try checkRow()
    var reader = RecordReader(format, map, scanner, bytes, base)
    let start = scanner.cells.first?.start ?? 0
    _ = reader.record(columns, at: base + start, in: nil, nil)
    for record in reader.records { record.finish() }
    return reader.records
  }

  func pointers(to offsets: [Int], in bytes: UnsafeBufferPointer<UInt8>) -> [String] {
    var scanner = scanner
    guard (try? scanner.scan(bytes, from: 0, isWhole: true)) != nil else { return offsets.map { _ in "" } }
    return offsets.map { offset in
      guard offset > 0, let column = scanner.cells.lastIndex(where: { $0.start <= offset }), column < header.count
      else {
        return ""
      }
      return "/" + PointerText.escaped(header[column])
    }
  }
}

extension JSONScanner {
  /// Checks that bytes are UTF-8.
  fileprivate static func checkEncoding(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) throws(DocumentFault) {
    do throws(DocumentFault) { try checkEncoding(bytes) } catch {
      throw DocumentFault(
        "the text is not UTF-8 from here on; programs for Windows often write windows-1252", at: start + error.offset,
        .damaged)
    }
  }
}

/// Makes the records of one row.
private struct RecordReader {
  private let format: CSVFormat
  private let map: JSONMap
  private let scanner: RowScanner
  private let bytes: UnsafeBufferPointer<UInt8>
  private let base: Int
  private(set) var records: [ImportRecord] = []

  init(
    _ format: CSVFormat, _ map: JSONMap, _ scanner: RowScanner, _ bytes: UnsafeBufferPointer<UInt8>, _ base: Int
  ) {
    self.format = format
    self.map = map
    self.scanner = scanner
    self.bytes = bytes
    self.base = base
  }

  private func content(_ column: Int) -> CellContent { format.content(scanner.cells[column], scanner, bytes) }

  private func place(_ column: Int) -> Int { base + scanner.cells[column].start }

  mutating func record(
    _ columns: ColumnGroup, at start: Int, in parent: ImportRecord?, _ link: LinkMap?
  ) -> ImportRecord? {
    var own = columns.entity
    var problem: ImportProblem?
    if let column = columns.entityColumn, case .text(let text, _) = content(column) {
      if let number = own.entitiesByValue[text], let found = map.entities[number] {
        own = found
      } else {
        problem = ImportProblem(
          .wrongEntity, at: place(column), "must be one of \(own.entitiesByValue.keys.sorted().joined(separator: ", "))"
        )
      }
    }
    guard let plan = columns.plans[own.entity.index] else { return nil }
    let record = ImportRecord(own, at: start, in: parent, link)
    records.append(record)
    if let problem { record.note(problem) }
    for (column, target) in plan.targets {
      switch target {
      case .field(let number): set(number, content(column), record, at: place(column))
      case .list(let number): setList(number, content(column), record, at: place(column))
      case .presence(let number): setPresence(number, content(column), record, at: place(column))
      case .reference(let number): setReference(number, content(column), record, at: place(column))
      case .members(let number): setMembers(number, content(column), record, at: place(column))
      }
    }
    // What another entity has would be lost without a word.
    if !format.skipsUnknownColumns {
      for column in plan.others {
        guard case .text(let text, _) = content(column), !text.isEmpty else { continue }
        record.note(
          ImportProblem(
            .badValue, at: place(column),
            "must be empty, because an object of '\(own.entity.name)' has no such property"))
      }
    }
    for group in plan.groups
    where record.values[group.presence] == nil && group.fields.allSatisfy({ record.values[$0]?.isNull == true }) {
      record.set(group.presence, .null, at: start)
    }
    for (number, columns, inner) in plan.nested { nest(number, columns, inner, record) }
    return record
  }

  // MARK: Attributes

  private func set(_ number: Int, _ content: CellContent, _ record: ImportRecord, at offset: Int) {
    let field = record.map.fields[number]
    switch format.value(content, field.value) {
    case .value(let value): record.set(number, value, at: offset)
    case .null: setNull(number, record, at: offset)
    case .wrong(let expected): record.note(ImportProblem(.badValue, at: offset, field: number, "must be \(expected)"))
    }
  }

  private func setNull(_ number: Int, _ record: ImportRecord, at offset: Int) {
    let field = record.map.fields[number]
    if field.keepsOnNull { return }
    if field.attribute.isOptional {
      record.set(number, .null, at: offset)
    } else {
      record.note(
        ImportProblem(.badValue, at: offset, field: number, "must be \(field.value.expectation), and the cell is empty")
      )
    }
  }

  private func setList(_ number: Int, _ content: CellContent, _ record: ImportRecord, at offset: Int) {
    let field = record.map.fields[number]
    guard case .text(let text, _) = content else {
      if field.attribute.isOptional || field.keepsOnNull { return setNull(number, record, at: offset) }
      record.begin(.item(number), at: offset)
      return
    }
    guard let values = format.list(format.unguarded(text), field.value) else {
      record.note(ImportProblem(.badValue, at: offset, field: number, "must be \(listExpectation(field.value))"))
      return
    }
    record.begin(.item(number), at: offset)
    for value in values { record.append(value, to: number) }
  }

  private func listExpectation(_ map: ValueMap) -> String {
    let element = map.expectation
    if let separator = format.listSeparator { return "a list with '\(separator)' between elements, each \(element)" }
    return "a list in JSON, each element \(element)"
  }

  private func setPresence(_ number: Int, _ content: CellContent, _ record: ImportRecord, at offset: Int) {
    // An empty cell leaves it to the fields.
    guard case .text(let text, _) = content, !text.isEmpty else { return }
    switch text.lowercased() {
    case "true", "t", "1": record.set(number, .integer(1), at: offset)
    case "false", "f", "0": setNull(number, record, at: offset)
    default: record.note(ImportProblem(.badValue, at: offset, field: number, "must be true or empty"))
    }
  }

  // MARK: Relationships

  private func setReference(_ number: Int, _ content: CellContent, _ record: ImportRecord, at offset: Int) {
    let link = record.map.links[number]
    guard let reference = link.reference else { return }
    switch format.value(content, reference, mayBeNil: true) {
    case .value(let value):
      record.begin(.link(number), at: offset)
      record.append(.reference(value, offset: offset), to: number)
    case .null: if !link.keepsOnNull { record.begin(.link(number), at: offset) }
    case .wrong(let expected): refuse(number, record, expected, at: offset)
    }
  }

  private func refuse(_ number: Int, _ record: ImportRecord, _ expected: String, at offset: Int) {
    record.begin(.link(number), at: offset)
    record.append(.unreadable, to: number)
    record.note(
      ImportProblem(.badValue, at: offset, property: record.map.links[number].relationship.name, "must be \(expected)"))
  }

  private func setMembers(_ number: Int, _ content: CellContent, _ record: ImportRecord, at offset: Int) {
    let link = record.map.links[number]
    guard let reference = link.reference else { return }
    guard case .text(let text, _) = content else {
      if !link.keepsOnNull { record.begin(.link(number), at: offset) }
      return
    }
    guard let values = format.list(format.unguarded(text), reference) else {
      return refuse(number, record, listExpectation(reference), at: offset)
    }
    record.begin(.link(number), at: offset)
    for value in values { record.append(.reference(value, offset: offset), to: number) }
  }

  private mutating func nest(_ number: Int, _ columns: [Int], _ inner: ColumnGroup, _ record: ImportRecord) {
    let link = record.map.links[number]
    let offset = columns.first.map(place) ?? record.start
    let isEmpty = columns.allSatisfy { column in
      switch content(column) {
      case .null: true
      case .text(let text, _): text.isEmpty
      }
    }
    if isEmpty {
      if !link.keepsOnNull { record.begin(.link(number), at: offset) }
    } else if let partner = self.record(inner, at: offset, in: record, link) {
      record.begin(.link(number), at: offset)
      record.append(.record(partner), to: number)
    }
  }
}
