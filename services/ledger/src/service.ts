import type { Service } from '@gateway/service-kit/process/open-service'
import { ledgerConfig } from './config.ts'
import { startLedger } from './start.ts'

export const service: Service<typeof ledgerConfig> = { name: 'ledger', config: ledgerConfig, start: startLedger }
