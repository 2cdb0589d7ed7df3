import { Client } from 'pg'

const CONNECT_MS = 10_000
/**
 * A connection without traffic is probed after this time, then every second, and is lost after ten unanswered probes.
 */
const PROBE_AFTER_MS = 5_000

/**
 * Opens a separate connection for a job of the operator. A migration may take long, so statements have no time limit,
 * but a vanished server is detected.
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
