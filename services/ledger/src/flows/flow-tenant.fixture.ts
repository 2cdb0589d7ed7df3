import { test as tenantTest } from '../tenant.fixture.ts'
import { openEngine, type Engine } from './engine.fixture.ts'

/** The tenant of the money core, with the flow engines of two replicas on the same database. */
export const test = tenantTest
  .extend('engine', { scope: 'file' }, async ({ database }, { onCleanup }): Promise<Engine> => {
    const engine = await openEngine(database.ledgerUrl, { lateMs: 0 })
    onCleanup(engine.close)
    return engine
  })
  .extend('twin', { scope: 'file' }, async ({ database }, { onCleanup }): Promise<Engine> => {
    const engine = await openEngine(database.ledgerUrl, { lateMs: 0 })
    onCleanup(engine.close)
    return engine
  })
