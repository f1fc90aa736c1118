/// Tables that migration libraries keep for themselves.
package enum BookkeepingTables {
  package static let names: Set<String> = [
    "grdb_migrations", "schema_migrations", "ar_internal_metadata", "django_migrations", "__efmigrationshistory",
    "alembic_version", "flyway_schema_history", "_prisma_migrations", "knex_migrations", "knex_migrations_lock",
    "room_master_table", "android_metadata", "_sqlx_migrations", "__diesel_schema_migrations", "goose_db_version",
  ]
}
