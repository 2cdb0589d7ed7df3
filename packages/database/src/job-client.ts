import { Client } from 'pg'

const CONNECT_MS = 10_000
/** A connection on which nothing comes is probed after this, each second, and is lost after ten probes without an answer. */
const PROBE_AFTER_MS = 5_000

/**
 * A separate connection for a job of the operator: a migration may take its time, so there is no limit for a statement, but
 * a server that has vanished is noticed.
 * @param name as Postgres shows it (`application_name`)
 */
export function openJobClient(url: string, name: string): Client {
  return new Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_AFTER_MS,
  })
}
