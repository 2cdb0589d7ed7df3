import { PlaywrightBrowserProvider, playwright } from '@vitest/browser-playwright'
import type { LaunchOptions } from 'playwright'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { packageFolder } from './page-folders.ts'

const HOST = '127.0.0.1'
const everyScreen = 'page/accessible.browser.test.tsx'

/**
 * Vitest project of the page's component tests. They run in one Chromium, without the stack: a Vite server on a free
 * port of this machine serves them, and `page/page-test.fixture.tsx` answers the requests of the page.
 * `page-full` opens every screen and dialog; `page` has all other tests.
 * @param findChromium called only if a test of this project runs
 */
export function pageTests(
  name: 'page' | 'page-full',
  findChromium: () => Promise<string>,
): TestProjectInlineConfiguration {
  // Chromium's sandbox does not work for root; the pages shown here are our own.
  const launchOptions: LaunchOptions = { args: ['--no-sandbox'] }
  class Provider extends PlaywrightBrowserProvider {
    override async openPage(...given: Parameters<PlaywrightBrowserProvider['openPage']>) {
      launchOptions.executablePath = await findChromium()
      return super.openPage(...given)
    }
  }
  const { prewarm: _, ...provider } = playwright()
  return {
    root: packageFolder,
    // Libraries are found again before each run, because one that is found later reloads the page of the tests.
    optimizeDeps: { entries: ['page/main.tsx', 'page/**/*.browser.test.tsx'], force: true },
    test: {
      name,
      api: { host: HOST, port: 0 },
      isolate: false,
      include: name === 'page' ? ['page/**/*.browser.test.tsx'] : [everyScreen],
      exclude: name === 'page' ? [everyScreen] : [],
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: { ...provider, providerFactory: (project) => new Provider(project, { launchOptions }) },
        instances: [{ browser: 'chromium', name, viewport: { width: 1280, height: 900 } }],
      },
    },
  }
}
