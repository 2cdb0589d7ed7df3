// Builds the console's page if its sources changed since the last time.
import { buildPage } from './build-page.ts'

try {
  if (await buildPage()) console.log('Built the page of the console.')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
