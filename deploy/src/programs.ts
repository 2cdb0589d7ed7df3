import { consoleApp } from '@gateway/console/app'
import { consoleConfig } from '@gateway/console/config'
import { gatewayApp } from '@gateway/gateway/app'
import { gatewayConfig } from '@gateway/gateway/config'
import { ledgerApp } from '@gateway/ledger/start'
import { archiveConfig } from '@gateway/ledger/archive-config'
import { ledgerConfig } from '@gateway/ledger/config'
import { jobConfig } from '@gateway/prisma/job-config'
import { seedConfig } from '@gateway/prisma/seed-config'
import { serviceConfig } from '@gateway/service-kit/process/config'
import { neverAsked, surfaceOf } from '@gateway/scenarios/routes-of'
import { workerApp } from '@gateway/worker/start'
import { workerConfig } from '@gateway/worker/config'
import { z } from 'zod'

// Every program that an image runs: what it reads from its environment, and which paths it serves. From the code itself.

export interface Program {
  variables: z.ZodObject
  /** Names that it reads as well, by the libraries in it. */
  alsoReads: RegExp
  /** Such as `GET /health/live`; a job serves nothing. */
  routes: () => string[]
}

const never = neverAsked()
const sdk = /^(OTEL_[A-Z_]+|NODE_OPTIONS|NODE_EXTRA_CA_CERTS)$/
/** In addition to, who keeps assets. */
const sdkAndBucket = /^(OTEL_[A-Z_]+|NODE_OPTIONS|NODE_EXTRA_CA_CERTS|AWS_[A-Z_]+)$/
/** In addition to, who calls providers and keeps assets. */
const sdkAndMore = /^(OTEL_[A-Z_]+|NODE_OPTIONS|NODE_EXTRA_CA_CERTS|PROVIDER_ALLOWED_HOSTS|AWS_[A-Z_]+)$/
const job = { alsoReads: /^(NODE_OPTIONS|NODE_EXTRA_CA_CERTS)$/, routes: () => [] }

export const programs = {
  gateway: {
    variables: serviceConfig(gatewayConfig),
    alsoReads: sdkAndMore,
    routes: () => surfaceOf(gatewayApp(never)).routes,
  },
  worker: {
    variables: serviceConfig(workerConfig),
    alsoReads: sdkAndMore,
    routes: () => surfaceOf(workerApp(never)).routes,
  },
  ledger: {
    variables: serviceConfig(ledgerConfig),
    alsoReads: sdk,
    routes: () => surfaceOf(ledgerApp(never)).routes,
  },
  console: {
    variables: serviceConfig(consoleConfig),
    alsoReads: sdkAndBucket,
    routes: () => surfaceOf(consoleApp(never)).routes,
  },
  migrate: { variables: jobConfig, ...job },
  archive: { variables: archiveConfig, ...job },
  seed: { variables: seedConfig, ...job },
  // The simulated provider reads these two by itself.
  provider: {
    variables: z.object({ HOST: z.string().default('127.0.0.1'), PORT: z.string().default('0') }),
    alsoReads: /^STOP_WITH_PARENT$/,
    routes: () => ['GET /health/ready'],
  },
} satisfies Record<string, Program>

export type ProgramName = keyof typeof programs
export const services = ['gateway', 'worker', 'ledger', 'console'] as const satisfies ProgramName[]

export function isProgram(name: string): name is ProgramName {
  return name in programs
}
