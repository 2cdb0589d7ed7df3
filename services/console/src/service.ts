import type { Service } from '@gateway/service-kit/process/open-service'
import { consoleConfig } from './config.ts'
import { startConsole } from './start.ts'

export const service: Service<typeof consoleConfig> = { name: 'console', config: consoleConfig, start: startConsole }
