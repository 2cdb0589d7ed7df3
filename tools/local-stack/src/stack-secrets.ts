import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ConfigurationError } from '@gateway/service-kit/process/config'
import { newServiceKeys, servicePrivateKey, servicePublicKeys } from '@gateway/service-kit/process/service-keys'
import { z } from 'zod'
import { writePrivateJson } from './ready-facts.ts'

const secret = z.string().min(32)
const serviceKeys = z.object({ privateKey: servicePrivateKey(), publicKey: servicePublicKeys() })
const stackSecrets = z.object({
  /** With which each service signs its requests to the ledger. */
  services: z.object({ gateway: serviceKeys, worker: serviceKeys, console: serviceKeys }),
  /** Passwords of the login roles in Postgres. */
  databaseRoles: z.object({ ledger: secret, console: secret }),
  /** Password of Redis. */
  redis: secret.default(newSecret),
  /** Encrypts the secrets of webhooks. */
  webhooks: secret.default(newSecret),
  /** Encrypts the secrets of authenticator apps. */
  secondFactors: secret.default(newSecret),
  /** From which the keys of captured prompts and answers are derived. */
  capture: secret.default(newSecret),
})

export type StackSecrets = z.output<typeof stackSecrets>

/** The secrets between the parts of this stack: generated once, stored in `secrets.json` for this user only. */
export function keepSecrets(folder: string): StackSecrets {
  const file = path.join(folder, 'secrets.json')
  const kept = readIfThere(file)
  if (kept !== null) {
    const read = stackSecrets.safeParse(kept)
    if (read.success) {
      if (!isDeepStrictEqual(read.data, kept)) writePrivateJson(file, read.data)
      return read.data
    }
    throw new ConfigurationError([
      `${file} is damaged. Restore it from a backup. If there is none, remove it to generate new secrets: ` +
        'the secrets of webhooks and of authenticator apps, and captured prompts and answers, then stay unreadable.',
    ])
  }
  const made: StackSecrets = {
    services: { gateway: newServiceKeys(), worker: newServiceKeys(), console: newServiceKeys() },
    databaseRoles: { ledger: newSecret(), console: newSecret() },
    redis: newSecret(),
    webhooks: newSecret(),
    secondFactors: newSecret(),
    capture: newSecret(),
  }
  writePrivateJson(file, made)
  return made
}

function readIfThere(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function newSecret(): string {
  return randomBytes(32).toString('base64url')
}
