// `npm run pictures`: retakes the screenshots of docs/console.md on the stack that `npm start` seeds.
import path from 'node:path'
import { openBrowser } from '@gateway/testbed/open-browser'
import { startSeededStack } from '@gateway/testbed/seeded-stack'
import { takePictures } from './take-pictures.ts'

const folder = path.resolve(import.meta.dirname, '../../../docs/pictures')
const stack = await startSeededStack(process.stdout)
try {
  const browser = await openBrowser()
  try {
    await takePictures(stack, { browser, folder })
    process.stdout.write(`Updated the screenshots in ${path.relative(process.cwd(), folder)}.\n`)
  } finally {
    await browser.close()
  }
} finally {
  await stack.stop()
}
