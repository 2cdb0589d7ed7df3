// Fills an empty stack, so that everything can be tried by hand (rules §8.1).
//   S1  Safe to repeat: what is there stays as someone may have changed it since; only what is missing is made.
//   S2  Secrets can't be read back from the books, so the caller keeps them; one that no longer works is replaced.
//   S3  Money comes in through the ledger, once, like all money.
import { openDatabase } from '@gateway/database/client'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { media, seedCatalogue } from './catalogue.ts'
import { seedFlows } from './flows.ts'
import { ids } from './ids.ts'
import { seedKeys } from './keys.ts'
import { seedUsers } from './users.ts'
import { seedProjects } from './projects.ts'
import type { Seeded, SeedOptions } from './seeded.ts'

const FUNDS_MICRO = 100_000_000 // 100 USD
const OTHER_FUNDS_MICRO = 10_000_000

export async function seed(options: SeedOptions): Promise<Seeded> {
  const { prisma, close } = await openDatabase({ url: options.adminUrl, poolSize: 2, role: 'seed' })
  const ledger = openLedgerClient({ url: options.ledgerUrl, service: 'console', privateKey: options.consolePrivateKey })
  try {
    const user = await seedUsers(prisma, options)
    await seedProjects(prisma)
    const models = await seedCatalogue(prisma, options.realModels)
    const keys = await seedKeys(prisma, options.before)
    await fund(ids.project, FUNDS_MICRO) // S3
    await fund(ids.otherProject, OTHER_FUNDS_MICRO)
    const sandboxes = await seedFlows({ ...options, consoleToken: user.consoleToken })
    return { ...user, tenant: ids.tenant, project: ids.project, ...keys, models, media, sandboxes }
  } finally {
    await ledger.close()
    await close()
  }

  async function fund(project: string, micro: number): Promise<void> {
    const { fresh } = await ledger.fund({ project, fundingId: 'seed', micro, fundedBy: ids.user }, { budgetMs: 30_000 })
    if (fresh) options.log(`Funded the project ${project} with ${micro / 1_000_000} USD.`)
  }
}
