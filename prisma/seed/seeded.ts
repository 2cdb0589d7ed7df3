import type { RealModel } from './real-models.ts'
import { mintId } from '@gateway/api/ids'

export { hasRoomForPrompt, productIdOf, type RealModel, type RealProvider } from './real-models.ts'
export type { ModelLimits } from './known-models.ts'

/** What was made, or found as it had been made before. */
export interface Seeded {
  /** A user's token (`svu_…`) who may do everything in the tenant and is platform operator. */
  consoleToken: string
  email: string
  /** null: the user has set another one, or signs in at a provider. */
  password: string | null
  /** The console has accepted the password since the console token was made. */
  passwordChecked?: true
  tenant: string
  project: string
  key: string
  /** From before keys were bound to projects: refused everywhere. */
  legacyKey: string
  otherProject: { project: string; key: string }
  /** The chat products that the key can call; the one to try first in front. */
  models: string[]
  media: { image: string; audio: string }
  /**
   * Flows of the first project: one that is called like a chat model too, and one with a branch and an image. null: the
   * console refused to make them.
   */
  sandboxes: { chat: string; mixed: string } | null
}

export interface SeedOptions {
  /** Postgres by the login that owns the schema. */
  adminUrl: string
  ledgerUrl: string
  consoleUrl: string
  /** The console's secret at the ledger. */
  consolePrivateKey: string
  /** What the last seeding of this database answered; null the first time. */
  before: Partial<Seeded> | null
  /** Models of real providers, as products alongside the simulated ones. */
  realModels: RealModel[]
  log: (line: string) => void
}

// Fixed, so that seeding again finds what it made. No id that is minted at a real time looks like these.
const fixed = <Prefix extends string>(prefix: Prefix, n: number) => mintId(prefix, 0, new Uint8Array(10).with(9, n))

export const ids = {
  tenant: fixed('ten', 1),
  user: fixed('usr', 1),
  team: fixed('tea', 1),
  project: fixed('prj', 1),
  otherProject: fixed('prj', 2),
}
