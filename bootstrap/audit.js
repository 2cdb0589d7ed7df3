import { runProgram } from './run.js'

await runProgram('services/console/src/command.ts')
