// Generates the Prisma client if the schema changed since the last time.
import { generateClient } from './generate-client.ts'

try {
  if (await generateClient()) console.log('Generated the Prisma client.')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
