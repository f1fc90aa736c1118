import Foundation
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
    if let error = ownError(store, doing: doing) { return error }
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
    switch kind {
    case .full:
      return StoreError(.full, "The disk of \(store) is full.", remedy: "Make room on the server, and save again.")
    case .readOnly:
      return StoreError(
        .readOnly, "\(store) can only be read: \(message).",
        remedy: "Connect to the server that can be written to, for example with target_session_attrs=read-write.")
    case .rights:
      return StoreError(
        .cannotOpen, "The role may not \(doing) in \(store): \(message).",
        remedy: "Grant the role what it needs: see Roles in Docs/PostgreSQL.md.")
    case .access:
      return StoreError(
        .cannotOpen, "\(store) cannot be used: \(message).", remedy: "Check the address, the role and the database.")
    case .crowded:
      return StoreError(
        .busy, "\(store) has no room for more at this moment: \(message).",
        remedy: "Open stores with fewer connections, or raise the server's max_connections.")
    case .locked:
      return StoreError(
        .busy, "\(store) was held by others for too long while Trellis was to \(doing): \(message).",
        remedy: "Try again.")
    case .slow:
      return StoreError(
        .timedOut, "The server has ended what Trellis was to \(doing) in \(store): \(message).",
        remedy: "Do less in one call, or raise the role's time-out, such as statement_timeout.")
    case .transient where doing != Self.saving:
      return StoreError(
        .busy, "\(store) needed what was being read for something else: \(message).",
        remedy: "Try again; let a replica wait longer with max_standby_streaming_delay or hot_standby_feedback.")
    case .transient:
      return StoreError(
        .contended, "\(store) is changed by others too fast to \(doing): \(message).", remedy: "Try again later.")
    case .limit:
      return StoreError(.limit, "\(store) cannot \(doing): \(message).", remedy: "Make the request smaller.")
    case .unprepared:
      return StoreError(
        .cannotOpen,
        "The connection to \(store) does not keep prepared statements, so a pool in its transaction mode lies between.",
        remedy: "Open the store with throughTransactionPool: true.")
    case .changed:
      return StoreError(
        .changedByOthers,
        "The tables of \(store) are not as this program's model has them, though none of its programs has migrated "
          + "them: \(message).",
        remedy:
          "Undo what was changed by hand in the schema, or restore it from a backup; Trellis changes it by opening "
          + "a store with another model.")
    case .taken:
      return StoreError(
        .foreignFile, "\(store) has something of another program with the name of a part of the store: \(message).",
        remedy: "Give the store a schema of its own.")
    case .rule: return refusal(store, doing: doing)
    case .dependent: return dependence(store)
    case .unsupported:
      return StoreError(
        .unsupported, "\(store) cannot \(doing), because its server does not have what this needs: \(message).",
        remedy: "Use PostgreSQL 13 or later: see Docs/PostgreSQL.md for other engines.")
    case .files:
      return StoreError(
        .inputOutput, "The server of \(store) failed to \(doing): \(message).",
        remedy: "Look into the server's log, and check its disks.")
    case .damaged:
      return StoreError(
        .damaged, "\(store) is damaged: \(message).", remedy: "Check the server's disks, and restore a backup.")
    case .mistake:
      return StoreError(
        .internalError, "\(store) cannot \(doing): \(message) (SQLSTATE \(state)).",
        remedy: "Report this as a mistake in Trellis.")
    }
  }

  // MARK: Kinds

  /// The kinds of errors that a program tells apart.
  private enum Kind {
    case full, readOnly, rights, access, crowded, locked, slow, transient, limit, unprepared, changed, taken, rule
    case dependent, unsupported, files, damaged, mistake
  }

  /// Source: PostgreSQL's manual, "PostgreSQL Error Codes".
  private var kind: Kind {
    switch state {
    case "53100": return .full
    case "25006": return .readOnly
    case "42501": return .rights
    case "53300", "57P03": return .crowded
    case "55P03", "55006", "72000": return .locked
    case "57014", "25P03", "25P04": return .slow
    case "26000", "42P05": return .unprepared
    case "XX001", "XX002": return .damaged
    default: break
    }
    // What a function of the database raises is a rule of its owner, whatever it is.
    if !function.isEmpty { return state.hasPrefix("40") ? .transient : .rule }
    switch state {
    case "2BP01": return .dependent
    case "42P01", "42703", "42704", "42804", "42809", "42846", "42883", "42P10", "428C9": return .changed
    case "42P06", "42P07", "42701", "42710", "42712": return .taken
    case "0A000":
      // A view uses a column whose type would change.
      if routine.contains("AlterColumnType") || routine.contains("DependentForRebuilding") { return .dependent }
      return routine == "RevalidateCachedQuery" ? .changed : .unsupported
    default: break
    }
    switch state.prefix(2) {
    case "08", "57", "58", "F0", "HV": return .files
    case "0L", "0P", "28", "3D": return .access
    case "3F": return .changed
    case "40": return .transient
    case "53", "54": return .limit
    // Statements that no server understands, and what a transaction does not allow: what Trellis sends is wrong.
    case "00", "01", "02", "03", "0B", "24", "25", "2D", "34", "3B", "42", "XX": return .mistake
    // Values, rules, and what other programs raise.
    default: return .rule
    }
  }

  // MARK: Sentences

  /// The error of this side; nil for one of the server.
  private func ownError(_ store: String, doing: String) -> StoreError? {
    switch state {
    case "trellis-nested":
      StoreError(
        .internalError, "The connection was used while it was reading.",
        remedy: "Do not use a connection inside the body of one of its calls.")
    case "trellis-cancelled": Interruption.error(of: store)
    case "trellis-silence":
      StoreError(
        .timedOut, "\(store) did not do in time what Trellis was to \(doing): \(message).",
        remedy:
          "Try again when the server is well; open the store with a longer statementTimeout for statements that take long."
      )
    default: nil
    }
  }

  /// The message of a rule is left out, because it may have values.
  private func refusal(_ store: String, doing: String) -> StoreError {
    var place: [String] = []
    if !constraint.isEmpty { place.append("the constraint \(constraint)") }
    if !function.isEmpty { place.append("the function \(function)") }
    if !table.isEmpty { place.append("the table \(table)") }
    if !column.isEmpty { place.append("the column \(column)") }
    let named = place.isEmpty ? "which it does not name" : "by " + place.joined(separator: ", ")
    return StoreError(
      .refusedByServer,
      "A rule of the server's owner does not let Trellis \(doing) in \(store), \(named) (SQLSTATE \(state)).",
      remedy: "Change what is saved as the rule has it, or ask the owner; the server's log has the message.")
  }

  private func dependence(_ store: String) -> StoreError {
    StoreError(
      .refusedByServer,
      "\(store) is not migrated, because something that another program has made depends on its tables: \(message)"
        + "\(detail.isEmpty ? "" : " (\(detail.replacing("\n", with: ", ")))"). Nothing was changed.",
      remedy: "Drop the view, rule or function, open the store, and make it again for the new tables.")
  }
}
