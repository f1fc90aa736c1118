import Foundation
import Hummingbird
import Shop

let server = try ShopServer(try ShopSettings(environment: ProcessInfo.processInfo.environment))
defer { server.close() }
try await server.application.runService()
