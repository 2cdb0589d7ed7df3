import { stat, readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { CommandFailure, systemFailure } from '../frame/command-failure.ts'
import type { Io } from '../frame/io.ts'
import { writeWhole } from '../frame/write-whole.ts'

/** A sign-in: user and address. */
const profileShape = z.looseObject({
  url: z.string(),
  token: z.string(),
  /** Of a token created for this machine, which is deleted with its profile. */
  tokenId: z.string().optional(),
  organization: z.string().optional(),
  project: z.string().optional(),
})
export type Profile = z.infer<typeof profileShape>
type Profiles = Record<string, Profile>

/** `$XDG_CONFIG_HOME/gateway`, readable only by its owner. */
export function settingsFolder(io: Pick<Io, 'env' | 'homeFolder'>): string {
  return path.join(io.env['XDG_CONFIG_HOME'] || path.join(io.homeFolder, '.config'), 'gateway')
}

export async function readProfiles(io: Io): Promise<Profiles> {
  const file = profilesFile(io)
  const text = await readIfThere(file)
  if (text !== null && io.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0)
    io.say(`Other users can read ${file}, which contains tokens. Run: chmod 600 '${file}'`)
  const value = parsed(text ?? '{}')
  const read = z.record(z.string(), profileShape).safeParse(value)
  if (read.success) return Object.assign(Object.create(null) as Profiles, value)
  const [{ path: at, message }] = read.error.issues as [z.core.$ZodIssue]
  throw new CommandFailure(
    `${file} is damaged${at.length === 0 ? '' : `: ${at.join('.')}`}: ${message}.`,
    'Fix it, or delete it and sign in again: gateway login',
    'signIn',
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Null removes it. */
export async function writeProfile(io: Io, name: string, profile: Profile | null): Promise<string> {
  const profiles = await readProfiles(io)
  if (profile) profiles[name] = profile
  else delete profiles[name]
  await writePrivateFile(profilesFile(io), `${JSON.stringify(profiles, null, 2)}\n`)
  return profilesFile(io)
}

const profilesFile = (io: Io) => path.join(settingsFolder(io), 'profiles.json')

/**
 * Writes a file that only its owner can read, completely or not at all; creates a missing folder for the owner alone.
 */
export function writePrivateFile(
  file: string,
  content: string | Uint8Array,
  trial: { isTrial?: boolean } = {},
): Promise<void> {
  return writeWhole(file, content, { mode: 0o600, isFollowed: true, ...trial })
}

/** Removes a byte order mark, which some editors write. Null if the file does not exist. */
export async function readIfThere(file: string): Promise<string | null> {
  const bytes = await readBytesIfThere(file)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}

/** File contents, or null if the file does not exist. */
export async function readBytesIfThere(file: string): Promise<Buffer<ArrayBuffer> | null> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw systemFailure(error, file) ?? error
  }
}
