import { runService } from '@gateway/process/run-service'
import { ledgerConfig } from './config.ts'
import { startLedger } from './start.ts'

await runService('ledger', ledgerConfig, startLedger)
