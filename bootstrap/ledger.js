import { runProgram } from './run.js'

await runProgram('services/ledger/src/command.ts')
