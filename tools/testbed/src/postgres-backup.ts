import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { startPostgres, type EmbeddedPostgres } from '@gateway/local-stack/embedded-postgres'
import { Client } from 'pg'
import { ask } from './ask.ts'
import type { PrivatePostgres } from './private-servers.ts'

// A base backup and the log since then, restored to a named point: what docs/operating.md asks of a backup, with the
// low-level functions of Postgres, because the embedded server comes without pg_basebackup.

const run = promisify(execFile)

export interface Backup {
  /** Names the present state, to which it can be restored. */
  mark(name: string): Promise<void>
  /** Starts a second server with the books as of a mark. The first one must have ended. */
  restore(mark: string): Promise<EmbeddedPostgres>
  remove(): Promise<void>
}

/** Keeps the log of an embedded server from now on. Restarts the server. */
export async function keepLog(server: PrivatePostgres): Promise<{ takeBackup(): Promise<Backup> }> {
  const data = String((await ask(server.adminUrl, 'SHOW data_directory'))[0]?.['data_directory'])
  const folder = path.dirname(data)
  const backups = `${folder}-backup`
  const [log, base] = [path.join(backups, 'log'), path.join(backups, 'base')]
  const { uid, gid } = await stat(data)
  const giveToPostgres = (what: string) => run('chown', ['-R', `${uid}:${gid}`, what])
  await mkdir(log, { recursive: true, mode: 0o700 })
  await giveToPostgres(backups)
  await ask(server.adminUrl, "ALTER SYSTEM SET archive_mode = 'on'")
  await ask(server.adminUrl, `ALTER SYSTEM SET archive_command = 'cp "%p" "${log}/%f"'`)
  await server.restart()

  async function takeBackup(): Promise<Backup> {
    const session = new Client({ connectionString: server.adminUrl }) // a backup begins and ends in one session
    await session.connect()
    try {
      await session.query(`SELECT pg_backup_start('rehearsal', true)`)
      const leftOut = new Set([path.join(data, 'pg_wal'), path.join(data, 'postmaster.pid')])
      await cp(data, base, {
        recursive: true,
        preserveTimestamps: true,
        // Files that come and go while others are copied.
        filter: (source) => !leftOut.has(source) && !/^(pgsql_tmp|pg_internal\.init)/.test(path.basename(source)),
      })
      const { rows } = await session.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop()')
      await writeFile(path.join(base, 'backup_label'), rows[0]!.labelfile)
    } finally {
      await session.end()
    }
    return {
      mark: async (name) => void (await ask(server.adminUrl, `SELECT pg_create_restore_point('${name}')`)),
      async restore(mark) {
        const restored = `${folder}-restored`
        await mkdir(restored, { mode: 0o700 })
        // What the archiver had no time for is still with the first server.
        await cp(path.join(data, 'pg_wal'), log, { recursive: true, force: false })
        await mkdir(path.join(base, 'pg_wal'), { mode: 0o700 })
        await writeFile(path.join(base, 'recovery.signal'), '')
        const settings = [
          `restore_command = 'cp "${log}/%f" "%p"'`,
          `recovery_target_name = '${mark}'`,
          `recovery_target_action = 'promote'`,
          `archive_mode = 'off'`,
        ]
        const file = path.join(base, 'postgresql.auto.conf')
        await writeFile(file, `${await readFile(file, 'utf8')}\n${settings.join('\n')}\n`)
        await rename(base, path.join(restored, 'data'))
        await cp(path.join(folder, 'password'), path.join(restored, 'password'))
        await giveToPostgres(restored)
        await giveToPostgres(log)
        const server = await startPostgres({ dataFolder: restored, persistent: false, fast: true })
        await untilRecovered(server.url)
        return server
      },
      remove: () => rm(backups, { recursive: true, force: true }),
    }
  }
  return { takeBackup }
}

/** A server that recovers can be read before it has reached its target. */
async function untilRecovered(url: string): Promise<void> {
  for (;;) {
    const [row] = await ask(url, 'SELECT pg_is_in_recovery() AS recovers')
    if (row?.['recovers'] === false) return
  }
}
