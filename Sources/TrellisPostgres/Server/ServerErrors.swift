import TrellisModel
import TrellisStorage

extension ServerError {
  /// What a save does, in messages.
  static let saving = "save"

  /// The error in the terms of a store, for a failure that concerns no row.
  ///
  /// - Parameters:
  ///   - store: the name of the store.
  ///   - doing: what was done, as an infinitive.
  func storeError(_ store: String, doing: String) -> StoreError {
    if isOfBusyPool {
      return StoreError(
        .busy, "All connections of the pool before \(store) were in use for too long while Trellis was to \(doing).",
        remedy: "Let the pool have more connections to the server, or try again.")
    }
    if isShutdown, !isTransient {
      return StoreError(
        .inputOutput, "The connection to \(store) was lost while Trellis was to \(doing): \(message).",
        remedy: "Try again when the server can be reached.")
    }
    switch state {
    case "trellis-nested":
      return StoreError(
        .internalError, "The connection was used while it was reading.",
        remedy: "Do not use a connection inside the body of one of its calls.")
    case "53100":
      return StoreError(.full, "The disk of \(store) is full.", remedy: "Make room on the server, and save again.")
    case "25006":
      return StoreError(
        .readOnly, "\(store) can only be read: \(message).",
        remedy: "Connect to the server that can be written to, for example with target_session_attrs=read-write.")
    case "42501":
      return StoreError(
        .cannotOpen, "The role may not \(doing) in \(store): \(message).",
        remedy: "Grant the role what it needs: see Roles in Docs/PostgreSQL.md.")
    case "55P03", "57014":
      return StoreError(
        .busy, "\(store) was held by others for too long while Trellis was to \(doing): \(message).",
        remedy: "Try again.")
    case "40P01" where doing != Self.saving, "40001" where doing != Self.saving:
      return StoreError(
        .busy, "\(store) needed what was being read for something else: \(message).",
        remedy: "Try again; let a replica wait longer with max_standby_streaming_delay or hot_standby_feedback.")
    case "40P01", "40001":
      return StoreError(
        .contended, "\(store) is changed by others too fast to \(doing): \(message).", remedy: "Try again later.")
    case "54000", "54001", "54011", "53200", "53400":
      return StoreError(.limit, "\(store) cannot \(doing): \(message).", remedy: "Make the request smaller.")
    case "26000", "42P05":
      return StoreError(
        .cannotOpen,
        "The connection to \(store) does not keep prepared statements, so a pool in its transaction mode lies between.",
        remedy: "Open the store with throughTransactionPool: true.")
    case "42P01", "42703":
      return StoreError(
        .migratedByOthers, "The tables of \(store) are not those of this program's model any more: \(message).",
        remedy: "Start the program again, in the version that fits the store.")
    case "23505", "23P01":
      return StoreError(
        .notUnique, "Two objects in \(store) would have the same value of \(constraint).",
        remedy: "Give one of them another value.")
    default:
      return StoreError(
        .internalError, "\(store) cannot \(doing): \(message) (SQLSTATE \(state)).",
        remedy: "Report this as a mistake in Trellis.")
    }
  }
}
