import { randomBytes } from 'node:crypto'
import { databaseOf, withDatabase } from '@gateway/database/client'
import { inject } from 'vitest'
import { copyOf, onServer } from './test-servers.ts'

export interface FreshDatabase {
  /** The owner's login, with all permissions. */
  adminUrl: string
  /** The ledger's login: the only one that writes money. */
  ledgerUrl: string
  consoleUrl: string
  drop: () => Promise<void>
}

/** Creates a separate migrated, empty database, as a copy of the template that all test files share. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const { adminUrl, ledgerUrl, consoleUrl } = inject('testServers')
  const name = `${copyOf(databaseOf(adminUrl))}${randomBytes(6).toString('hex')}`
  await onServer(adminUrl, `CREATE DATABASE ${name} TEMPLATE ${databaseOf(adminUrl)}`)
  return {
    adminUrl: withDatabase(adminUrl, name),
    ledgerUrl: withDatabase(ledgerUrl, name),
    consoleUrl: withDatabase(consoleUrl, name),
    drop: () => onServer(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}
