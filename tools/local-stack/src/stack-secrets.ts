import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ConfigurationError } from '@gateway/service-kit/process/config'
import { newServiceKeys, servicePrivateKey, servicePublicKeys } from '@gateway/service-kit/process/service-keys'
import { z } from 'zod'

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
      if (!isDeepStrictEqual(read.data, kept)) write(file, read.data)
      return read.data
    }
    throw new ConfigurationError([`${file} is damaged. Remove it to generate new secrets.`])
  }
  const made: StackSecrets = {
    services: { gateway: newServiceKeys(), worker: newServiceKeys(), console: newServiceKeys() },
    databaseRoles: { ledger: newSecret(), console: newSecret() },
    redis: newSecret(),
    webhooks: newSecret(),
    secondFactors: newSecret(),
    capture: newSecret(),
  }
  write(file, made)
  return made
}

function write(file: string, secrets: StackSecrets): void {
  writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
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
