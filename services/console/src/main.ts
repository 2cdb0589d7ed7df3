import { runService } from '@gateway/process/run-service'
import { consoleConfig } from './config.ts'
import { startConsole } from './start.ts'

await runService('console', consoleConfig, startConsole)
