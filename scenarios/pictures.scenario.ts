import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { openBrowser } from '@gateway/testbed/open-browser'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { expect } from 'vitest'
import { guideTest as test } from './src/guides/guide-test.ts'
import { pictures, takePictures } from './src/pictures/take-pictures.ts'

const docs = path.resolve(import.meta.dirname, '../docs')
const files = pictures.map(({ name }) => `${name}.png`).toSorted()

test('every documented screenshot can be taken on the seeded stack', async ({ stack, onTestFinished }) => {
  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const folder = await temporaryFolder('pictures')
  await takePictures(stack, { browser, folder })
  expect(readdirSync(folder).toSorted()).toEqual(files)
})

test('docs/pictures has every screenshot and docs/console.md shows each one', () => {
  expect(readdirSync(path.join(docs, 'pictures')).toSorted()).toEqual(files)
  const page = readFileSync(path.join(docs, 'console.md'), 'utf8')
  const shown = [...page.matchAll(/\(pictures\/([^)]+)\)/g)].map(([, file]) => file!)
  expect(shown.toSorted()).toEqual(files)
})
