// Fills an empty stack that runs elsewhere, such as that of docker compose, and prints what to try it with.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { ConfigurationError, readConfig } from '@gateway/service-kit/process/config'
import { wrongConfigurationExit } from '@gateway/service-kit/process/run-service'
import { redactText } from '@gateway/service-kit/text/redact'
import { seedConfig } from './seed-config.ts'
import { seed } from './seed.ts'
import type { Seeded } from './seeded.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)

try {
  const config = readConfig(seedConfig, process.env)
  const file = config.SEEDED_FILE
  const seeded = await seed({
    adminUrl: config.DATABASE_URL,
    ledgerUrl: config.LEDGER_URL,
    consoleUrl: config.CONSOLE_URL,
    consolePrivateKey: config.SERVICE_PRIVATE_KEY,
    before: existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Seeded>) : null,
    realModels: [],
    log: say,
  })
  writeFileSync(file, `${JSON.stringify(seeded, null, 2)}\n`, { mode: 0o600 })
  say(`key ${seeded.key}`)
  say(`models ${seeded.models.join(', ')}`)
  say(
    `console ${seeded.email}, ${seeded.password === null ? 'with the password you set' : `password ${seeded.password}`}`,
  )
} catch (error) {
  const wrong = error instanceof ConfigurationError
  process.stderr.write(`${redactText(error instanceof Error ? error.message : String(error))}\n`)
  process.exitCode = wrong ? wrongConfigurationExit : 1
}
