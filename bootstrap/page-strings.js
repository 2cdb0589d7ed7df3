import { runProgram } from './run.js'

await runProgram('packages/console-page/src/strings-command.ts')
