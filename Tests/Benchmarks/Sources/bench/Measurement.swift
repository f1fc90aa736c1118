/// One line that a participant prints.
struct Measurement: Decodable {
  let participant: String
  let workload: String
  let items: Int?
  let seconds: Double?
  /// Of all processors that the process has used.
  let processorSeconds: Double?
  /// A figure that is no time.
  let value: Double?
  let checksum: Int?
}
