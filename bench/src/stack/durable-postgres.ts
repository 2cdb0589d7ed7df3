import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { migrate } from '@gateway/database/migrate'
import { ensureRoles } from '@gateway/database/roles'
import { startPostgres } from '@gateway/local-stack/embedded-postgres'
import type { Stops } from './stops.ts'

export interface DurablePostgres {
  adminUrl: string
  ledgerUrl: string
  consoleUrl: string
  pid: number
}

/**
 * Starts a private, migrated Postgres that waits for the disk on every commit, as in production. It is removed with its
 * data.
 */
export async function durablePostgres(stops: Stops): Promise<DurablePostgres> {
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'svc-bench-postgres-'))
  const server = await startPostgres({ dataFolder, persistent: false })
  stops.add(server.stop)
  await migrate({ url: server.url, log: () => {} })
  const password = () => randomBytes(24).toString('base64url')
  const urls = await ensureRoles(server.url, { ledger: password(), console: password() })
  return { adminUrl: server.url, ledgerUrl: urls.ledger, consoleUrl: urls.console, pid: server.pid }
}
