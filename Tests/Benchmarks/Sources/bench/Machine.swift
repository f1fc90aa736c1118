import Foundation

/// Where and when the measurement was made.
enum Machine {
  static var description: String { "\(date), \(processor), \(system)" }

  static var date: String {
    let parts = Calendar(identifier: .gregorian).dateComponents([.year, .month, .day], from: Date())
    return String(format: "%04d-%02d-%02d", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
  }

  static var processor: String {
    "\(processorName ?? "unknown processor"), \(ProcessInfo.processInfo.activeProcessorCount) cores"
  }

  static var system: String { ProcessInfo.processInfo.operatingSystemVersionString }

  private static var processorName: String? {
    let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
  }
}
