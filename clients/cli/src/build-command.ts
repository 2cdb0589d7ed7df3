import { buildCommandLine } from './build-command-line.ts'

await buildCommandLine()
