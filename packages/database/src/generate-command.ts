// Generates the Prisma client if the schema changed since the last run, and the signatures of the SQL functions.
import { generateClient, generateSqlFunctions } from './generate-client.ts'

try {
  if (await generateClient()) console.log('Generated the Prisma client.')
  await generateSqlFunctions()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
