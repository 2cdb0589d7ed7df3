// `npm run pictures`: retakes the screenshots of docs/console.md on the stack that `npm start` seeds.
// `npm run pictures -- --every <folder>`: takes every screen, wide and narrow, light and dark, into a folder.
import path from 'node:path'
import { parseArgs } from 'node:util'
import { openBrowser } from '@gateway/testbed/open-browser'
import { startSeededStack } from '@gateway/testbed/seeded-stack'
import { takeEveryScreen } from './every-screen.ts'
import { takePictures } from './take-pictures.ts'

const { every } = parseArgs({ options: { every: { type: 'string' } } }).values
const folder = every ?? path.resolve(import.meta.dirname, '../../../docs/pictures')
const log = (line: string) => void process.stdout.write(`${line}\n`)
const stack = await startSeededStack(process.stdout)
try {
  const browser = await openBrowser()
  try {
    if (every === undefined) await takePictures(stack, { browser, folder })
    else await takeEveryScreen(stack, { browser, folder, log })
    log(`Screenshots are in ${path.relative(process.cwd(), folder)}.`)
  } finally {
    await browser.close()
  }
} finally {
  await stack.stop()
}
