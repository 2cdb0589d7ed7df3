import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { CommandFailure } from '../frame/command-failure.ts'
import type { Io } from '../frame/io.ts'
import { readIfThere, writePrivateFile } from '../session/private-file.ts'

export interface SecretFile {
  name: string
  keep(secret: string): Promise<void>
}

/**
 * The file that a secret is to go into, looked at before there is one: a secret that can be put nowhere is lost.
 * @throws CommandFailure where it has a key already, or git would take it into a commit
 */
export async function openSecretFile(io: Io, name: string | undefined): Promise<SecretFile | null> {
  if (name === undefined) return null
  const file = path.resolve(io.folder, name)
  const text = (await readIfThere(file)) ?? ''
  if (/^\s*(export\s+)?GATEWAY_KEY\s*=/m.test(text))
    throw new CommandFailure(`${name} has a GATEWAY_KEY already.`, 'Take that line away, or name another file', 'usage')
  if (await wouldBeCommitted(file))
    throw new CommandFailure(
      `git does not ignore ${name}: the key would be committed.`,
      `Add ${name} to .gitignore`,
      'usage',
    )
  const gap = text === '' || text.endsWith('\n') ? '' : '\n'
  return { name, keep: (secret) => writePrivateFile(file, `${text}${gap}GATEWAY_KEY=${secret}\n`) }
}

async function wouldBeCommitted(file: string): Promise<boolean> {
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-C', path.dirname(file), ...args]).then(
      ({ stdout }) => stdout.trim(),
      () => null, // no repository, no git, or not ignored
    )
  return (await git('rev-parse', '--is-inside-work-tree')) === 'true' && (await git('check-ignore', file)) === null
}
