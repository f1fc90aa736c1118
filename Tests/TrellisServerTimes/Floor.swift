import CPQ
import Foundation

/// A connection as a careful programmer would use it by hand: binary values, prepared statements, arrays.
final class FloorConnection: @unchecked Sendable {  // each is used by one thread at a time
  private let handle: OpaquePointer
  private var prepared: Set<String> = []
  /// The rows of the last answer, whose bytes stay valid until the next one.
  private var result: OpaquePointer?

  init(_ url: String) throws {
    let keywords: [String] = ["dbname"]
    guard let key = strdup(keywords[0]), let value = strdup(url) else { throw FloorError("no memory") }
    defer {
      free(key)
      free(value)
    }
    let names: [UnsafePointer<CChar>?] = [UnsafePointer(key), nil]
    let values: [UnsafePointer<CChar>?] = [UnsafePointer(value), nil]
    guard let handle = trellis_PQconnectdbParams(names, values, 1),
      trellis_PQstatus(handle) == Int32(TRELLIS_PQ_CONNECTION_OK)
    else { throw FloorError("no connection") }
    self.handle = handle
    guard trellis_PQenterPipelineMode(handle) == 1 else { throw FloorError("no pipeline") }
  }

  deinit {
    if let result { trellis_PQclear(result) }
    trellis_PQfinish(handle)
  }

  /// Runs statements in one round trip and returns the number of rows of the last; each has binary parameters.
  @discardableResult func run(_ statements: [(text: String, parameters: [[UInt8]], types: [UInt32])]) throws -> Int {
    var counts: [Int] = []
    for (text, parameters, types) in statements {
      var count = 1
      if prepared.insert(text).inserted {
        guard trellis_PQsendPrepare(handle, text.name, text, Int32(types.count), types) == 1 else { throw failure }
        count = 2
      }
      try send(text.name, parameters)
      counts.append(count)
    }
    guard trellis_PQpipelineSync(handle) == 1 else { throw failure }
    var rows = 0
    for count in counts.flatMap({ Array(repeating: 1, count: $0) }) {
      for _ in 0..<count {
        guard let answer = trellis_PQgetResult(handle) else { throw failure }
        let status = trellis_PQresultStatus(answer)
        guard status == Int32(TRELLIS_PQ_COMMAND_OK) || status == Int32(TRELLIS_PQ_TUPLES_OK) else { throw failure }
        rows = Int(trellis_PQntuples(answer))
        if let result { trellis_PQclear(result) }
        result = answer
        while let more = trellis_PQgetResult(handle) { trellis_PQclear(more) }
      }
    }
    if let sync = trellis_PQgetResult(handle) { trellis_PQclear(sync) }
    return rows
  }

  private func send(_ name: String, _ parameters: [[UInt8]]) throws {
    let bytes = parameters.flatMap(\.self)
    var offset = 0
    let isSent = bytes.withUnsafeBytes { buffer -> Int32 in
      let values: [UnsafePointer<CChar>?] = parameters.map { parameter in
        defer { offset += parameter.count }
        return buffer.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
      }
      let lengths = parameters.map { Int32($0.count) }
      let formats = parameters.map { _ in Int32(1) }
      return trellis_PQsendQueryPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1)
    }
    guard isSent == 1 else { throw failure }
  }

  /// The bytes of a value of the last answer.
  func value(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: trellis_PQgetvalue(result, Int32(row), Int32(column)),
      count: Int(trellis_PQgetlength(result, Int32(row), Int32(column))))
  }

  private var failure: FloorError { FloorError(String(cString: trellis_PQerrorMessage(handle))) }
}

struct FloorError: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

extension String {
  /// The name of a prepared statement.
  fileprivate var name: String { "s\(UInt(bitPattern: hashValue))" }
}

/// An array in the server's binary form.
struct FloorArray {
  private var bytes: [UInt8] = []
  private var count: Int32 = 0
  private let type: UInt32

  init(_ type: UInt32) { self.type = type }

  mutating func append(_ value: Int64) { append(value.bigEndian, length: 8) }
  mutating func append(_ value: Int32) { append(value.bigEndian, length: 4) }
  mutating func append(_ value: Int16) { append(value.bigEndian, length: 2) }
  mutating func append(_ value: Double) { append(value.bitPattern.bigEndian, length: 8) }

  mutating func append(_ text: String) {
    withUnsafeBytes(of: Int32(text.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: text.utf8)
    count += 1
  }

  private mutating func append<Value>(_ value: Value, length: Int32) {
    withUnsafeBytes(of: length.bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    count += 1
  }

  var parameter: [UInt8] {
    var all: [UInt8] = []
    for word in [1, 0, Int32(bitPattern: type), count, 1] {
      withUnsafeBytes(of: word.bigEndian) { all.append(contentsOf: $0) }
    }
    return all + bytes
  }
}
