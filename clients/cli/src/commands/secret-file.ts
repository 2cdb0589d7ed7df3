import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { CommandFailure } from '../frame/command-failure.ts'
import type { Io } from '../frame/io.ts'
import { readBytesIfThere, writePrivateFile } from '../session/private-file.ts'

/** More than any secret needs. */
const ROOM_BYTES = 4_096

export interface SecretFile {
  name: string
  keep(secret: string): Promise<void>
}

/**
 * Checks the file for a secret before the secret exists: one that can be stored nowhere is lost.
 * @throws CommandFailure if it already has a key, git would commit it, or it can't be written
 */
export async function openSecretFile(io: Io, name: string | undefined): Promise<SecretFile | null> {
  if (name === undefined) return null
  const asked = path.resolve(io.folder, name)
  const file = await realpath(asked).catch(() => asked)
  // Bytes, because its content may not be UTF-8.
  const before = (await readBytesIfThere(file)) ?? Buffer.alloc(0)
  if (/^\s*(export\s+)?GATEWAY_KEY\s*=/m.test(before.toString()))
    throw new CommandFailure(`${name} already has a GATEWAY_KEY.`, 'Remove that line, or name another file', 'usage')
  const isIgnored = await ignoredByGit(io, file)
  if (isIgnored === 'unknown')
    throw new CommandFailure(
      `git can't tell whether ${name} would be committed.`,
      `Run git status to see why, or name a file outside the repository`,
      'usage',
    )
  if (isIgnored === 'no')
    throw new CommandFailure(
      `git does not ignore ${name}: the key would be committed.`,
      `Add ${name} to .gitignore`,
      'usage',
    )
  await writePrivateFile(file, Buffer.concat([before, Buffer.alloc(ROOM_BYTES)]), { isTrial: true })
  const gap = before.length === 0 || before.at(-1) === 0x0a ? '' : '\n'
  return {
    name,
    keep: (secret) => writePrivateFile(file, Buffer.concat([before, Buffer.from(`${gap}GATEWAY_KEY=${secret}\n`)])),
  }
}

/** `yes` also if there is no repository, or no git. */
async function ignoredByGit({ env }: Io, file: string): Promise<'yes' | 'no' | 'unknown'> {
  let folder = path.dirname(file)
  while (!existsSync(folder)) folder = path.dirname(folder)
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-C', folder, ...args], { env: { ...env, LC_ALL: 'C' } }).then(
      ({ stdout }) => stdout.trim(),
      ({ code, stderr }: { code: unknown; stderr: string }) => {
        if (code === 'ENOENT' || stderr.includes('not a git repository')) return 'none'
        return code === 1 ? 'no' : 'unknown' // such as a repository of another user
      },
    )
  const isInside = await git('rev-parse', '--is-inside-work-tree')
  if (isInside !== 'true') return isInside === 'unknown' ? 'unknown' : 'yes'
  const ignored = await git('check-ignore', file)
  return ignored === 'no' || ignored === 'unknown' ? ignored : 'yes'
}
