import path from 'node:path'
import { onceAWorker } from '@gateway/testbed/stack-test'
import { openBrowser } from '@gateway/testbed/open-browser'
import { stackTest } from '../stack-test.ts'
import { openPage, views, type Page } from './browser.ts'

const shared = onceAWorker(openBrowser, (browser) => browser.close())

/** `test` with a browser, and `visit`, which opens a page in a new browser context. */
export const consoleTest = stackTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('browser', { scope: 'worker' }, ({}, { onCleanup }) => {
    onCleanup(shared.close)
    return shared.open()
  })
  .extend('visit', ({ browser, task }, { onCleanup }) => {
    const pages: Awaited<ReturnType<typeof openPage>>[] = []
    onCleanup(async () => {
      for (const { page, problems, close } of pages) {
        if (task.result?.state === 'fail') {
          console.log(problems)
          for (const each of page.context().pages()) console.log(each.url(), await contentOf(each))
        }
        await close()
      }
    })
    return async (view = views[0]) => {
      const { close, ...opened } = await openPage(browser, view)
      pages.push({ close, ...opened })
      return opened
    }
  })

/** What a page says, for the log of a failed test. A folder in `PAGE_PICTURES` also gets a screenshot. */
async function contentOf(page: Page): Promise<string> {
  const { PAGE_PICTURES: folder } = process.env
  if (folder !== undefined) await page.screenshot({ path: path.join(folder, `${Date.now()}.png`) }).catch(String)
  return page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String)
}
