public import ServiceLifecycle
public import Trellis

/// Closes a container when its service group shuts down.
///
/// Put it before the services that use the container: a group shuts down the last one first.
///
/// ```swift
/// let group = ServiceGroup(services: [ContainerService(container), server], logger: logger)
/// ```
public struct ContainerService: Service {
  private let container: PersistentContainer

  public init(_ container: PersistentContainer) { self.container = container }

  public func run() async throws {
    defer { container.close() }
    try await gracefulShutdown()
  }
}
