import { runProgram } from './run.js'

await runProgram('packages/console-page/src/build-command.ts')
