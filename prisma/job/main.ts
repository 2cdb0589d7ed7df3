import { ConfigurationError, readConfig } from '@gateway/service-kit/process/config'
import { wrongConfigurationExit } from '@gateway/service-kit/process/run-service'
import { redactText } from '@gateway/service-kit/text/redact'
import { jobConfig } from './config.ts'
import { prepare } from './prepare.ts'

// The migration job: runs to its end before the services of its version start. Exit codes: 0 done, 1 failed, 78 wrong
// configuration.

const say = (line: string) => void process.stdout.write(`${line}\n`)

try {
  await prepare(readConfig(jobConfig, process.env), say)
} catch (error) {
  const wrong = error instanceof ConfigurationError
  process.stderr.write(`${redactText(error instanceof Error ? error.message : String(error))}\n`)
  process.exitCode = wrong ? wrongConfigurationExit : 1
}
