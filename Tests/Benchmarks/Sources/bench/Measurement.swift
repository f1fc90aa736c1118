/// One line that a participant prints.
struct Measurement: Decodable {
  let participant: String
  let workload: String
  let items: Int?
  let seconds: Double?
  /// A figure that is no time.
  let value: Double?
  let checksum: Int?
}
