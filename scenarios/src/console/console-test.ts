import { onceAWorker } from '@gateway/testbed/once-a-worker'
import { openBrowser } from '@gateway/testbed/open-browser'
import { stackTest } from '../stack-test.ts'
import { openPage, views } from './browser.ts'

const shared = onceAWorker(openBrowser, (browser) => browser.close())

/** `test` with a browser, and `visit`, which opens a page in a new browser context. */
export const consoleTest = stackTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('browser', { scope: 'worker' }, ({}, { onCleanup }) => {
    onCleanup(shared.close)
    return shared.open()
  })
  .extend('visit', ({ browser }, { onCleanup }) => {
    const closes: (() => Promise<void>)[] = []
    onCleanup(async () => void (await Promise.all(closes.map((close) => close()))))
    return async (view = views[0]) => {
      const { close, ...opened } = await openPage(browser, view)
      closes.push(close)
      return opened
    }
  })
