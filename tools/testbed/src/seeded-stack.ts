import { rm } from 'node:fs/promises'
import { startPostgres } from '@gateway/local-stack/embedded-postgres'
import type { ReadyFacts } from '@gateway/local-stack/ready-facts'
import { createScreen } from '@gateway/local-stack/screen'
import { readStackConfig } from '@gateway/local-stack/stack-config'
import { startStack } from '@gateway/local-stack/start-stack'
import { seed } from '@gateway/prisma/seed'
import { createLifecycle } from '@gateway/service-kit/process/open-service'
import { noteStart } from './test-program.ts'
import { temporaryFolder } from './test-servers.ts'

export interface SeededStack extends ReadyFacts {
  password: string
  sandboxes: NonNullable<ReadyFacts['sandboxes']>
  /** Postgres by the login that owns the schema. */
  adminUrl: string
  /** Ends every part, and removes its data. */
  stop(): Promise<void>
}

/** The stack that `npm start` starts and seeds, on separate ports and in a separate folder. */
export async function startSeededStack(output: { write(text: string): unknown }): Promise<SeededStack> {
  const folder = await temporaryFolder('seeded')
  const lifecycle = createLifecycle({ log: { info: () => {}, error: () => {} } })
  lifecycle.onStop('folder', () => rm(folder, { recursive: true, force: true }))
  const stop = async () => void (await lifecycle.stop('done'))
  try {
    const postgres = await startPostgres({ dataFolder: `${folder}/postgres`, persistent: false, fast: true })
    lifecycle.onStop('postgres', postgres.stop, { limitMs: 25_000 })
    const config = readStackConfig({ PORT: '0', DATA_FOLDER: folder, DATABASE_URL: postgres.url })
    const screen = createScreen(output, () => performance.now())
    const startedAt = performance.now()
    const facts = await startStack({ config, env: process.env, screen, lifecycle, seed })
    await noteStart(performance.now() - startedAt, 5)
    const { password, sandboxes } = facts
    if (password === null || sandboxes === null) throw new Error('The password or the example flows were not made.')
    return { ...facts, password, sandboxes, adminUrl: postgres.url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
