import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { projectFolder } from '@gateway/bundler/bundle-programs'
import { expect, onTestFinished, test } from 'vitest'
import { bundleServices } from './bundle-services.ts'

test("bundling leaves out another process's unfinished build of the page, whose files come and go", async () => {
  const unfinished = path.join(projectFolder, 'packages/console-page/dist-0')
  onTestFinished(() => rmSync(unfinished, { recursive: true }))
  mkdirSync(unfinished)
  symlinkSync('gone', path.join(unfinished, 'page.js'))
  expect(Object.keys(await bundleServices())).toContain('console')
})
