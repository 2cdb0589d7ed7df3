import path from 'node:path'
import { CommandFailure } from '../frame/command-failure.ts'
import type { Io } from '../frame/io.ts'
import { readIfThere, writePrivateFile } from './private-file.ts'

/** Who signed in, and where. */
export interface Profile {
  url: string
  token: string
  /** Of a token that was made for this machine, which is deleted with its profile. */
  tokenId?: string
  organization?: string
  project?: string
}
type Profiles = Record<string, Profile>

/** `$XDG_CONFIG_HOME/gateway`, where nobody else reads. */
export function settingsFolder({ env, homeFolder }: Pick<Io, 'env' | 'homeFolder'>): string {
  return path.join(env['XDG_CONFIG_HOME'] || path.join(homeFolder, '.config'), 'gateway')
}

export async function readProfiles(io: Io): Promise<Profiles> {
  const file = profilesFile(io)
  const text = await readIfThere(file)
  try {
    return Object.assign(Object.create(null) as Profiles, JSON.parse(text ?? '{}'))
  } catch {
    throw new CommandFailure(`${file} is no JSON.`, 'Mend it, or delete it and sign in again: gateway login', 'signIn')
  }
}

/** null takes it away. */
export async function writeProfile(io: Io, name: string, profile: Profile | null): Promise<string> {
  const profiles = await readProfiles(io)
  if (profile) profiles[name] = profile
  else delete profiles[name]
  await writePrivateFile(profilesFile(io), `${JSON.stringify(profiles, null, 2)}\n`)
  return profilesFile(io)
}

const profilesFile = (io: Io) => path.join(settingsFolder(io), 'profiles.json')
